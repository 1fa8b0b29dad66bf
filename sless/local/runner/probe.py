"""Whether a function answers that it is ready."""

import asyncio

from sless.local.runner.function_process import HOST

READY_PATH = "/_/ready"
_NOT_READY = b"503"
_SECONDS = 2.0
"""For one answer: a handler that keeps its server busy for longer is not ready either."""


async def is_ready(port: int) -> bool:
    """Whether it answers anything but 503: a server that knows no such path is up, too."""
    try:
        async with asyncio.timeout(_SECONDS):
            return await _ask(port)
    except (OSError, TimeoutError, ValueError):  # the last: a line without end is no HTTP
        return False


async def _ask(port: int) -> bool:
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        writer.write(
            f"GET {READY_PATH} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode()
        )
        words = (await reader.readline()).split()
        return len(words) > 1 and words[0].startswith(b"HTTP/") and words[1] != _NOT_READY
    finally:
        writer.close()
