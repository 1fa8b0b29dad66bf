"""Whether a part serves yet: questions that are asked often, and never raise.

HTTP is spoken by hand here: a client library's set-up costs more than all of a part's own start,
twenty times a second.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

_SECONDS = 2.0
"""For one answer on this machine."""
_STATUS_LINE_MAX = 200

Check = Callable[[], Awaitable[bool]]


def accepts(host: str, port: int) -> Check:
    """Something accepts connections there."""
    return _quietly(lambda: _exchange(host, port, b""))


def answers(url: str) -> Check:
    """A GET is answered with success."""
    parts = urlsplit(url)
    request = f"GET {parts.path or '/'} HTTP/1.0\r\nHost: {parts.netloc}\r\n\r\n".encode()
    return _quietly(lambda: _exchange(parts.hostname or "", parts.port or 80, request))


def exists(path: Path) -> Check:
    """The process made its ready file."""

    async def check() -> bool:
        return path.exists()  # noqa: ASYNC240 - one stat on a local disk

    return check


def _quietly(ask: Check) -> Check:
    async def check() -> bool:
        try:
            async with asyncio.timeout(_SECONDS):
                return await ask()
        except (OSError, TimeoutError, ValueError):
            return False

    return check


async def _exchange(host: str, port: int, request: bytes) -> bool:
    """Connects, and sends the request if there is one; whether its answer has a status of 2xx."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        if not request:
            return True
        writer.write(request)
        words = (await reader.readline())[:_STATUS_LINE_MAX].split()
        return len(words) > 1 and words[0].startswith(b"HTTP/") and words[1].startswith(b"2")
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
