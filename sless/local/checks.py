"""Whether a part serves yet: questions that are asked often, and never raise."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx

_SECONDS = 2.0
"""For one answer on this machine."""

Check = Callable[[], Awaitable[bool]]


def accepts(host: str, port: int) -> Check:
    """Something accepts connections there."""

    async def check() -> bool:
        try:
            async with asyncio.timeout(_SECONDS):
                _, writer = await asyncio.open_connection(host, port)
        except (OSError, TimeoutError):
            return False
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        return True

    return check


def answers(url: str) -> Check:
    """A GET is answered with success."""

    async def check() -> bool:
        try:
            # A proxy set for the outside world does not reach this machine's own ports.
            async with httpx.AsyncClient(timeout=_SECONDS, trust_env=False) as client:
                return (await client.get(url)).is_success
        except httpx.HTTPError:
            return False

    return check


def exists(path: Path) -> Check:
    """The process made its ready file."""

    async def check() -> bool:
        return path.exists()  # noqa: ASYNC240 - one stat on a local disk

    return check
