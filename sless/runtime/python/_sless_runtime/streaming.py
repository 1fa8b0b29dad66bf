"""Sends a body while it is made: each piece goes out when it is there."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

from .asgi import Send
from .inbox import Inbox
from .results import Stream, encode_piece
from .threads import Threads

_END = object()


class Source:
    """The pieces of either kind of iterator; a plain one is asked in a thread."""

    def __init__(self, body: Stream, threads: Threads) -> None:
        self._body = body
        self._threads = threads
        self._asked: asyncio.Future[object] | None = None

    async def next(self) -> object:
        """The next piece, or `Source.END`."""
        if isinstance(self._body, AsyncIterator):
            return await anext(self._body, _END)
        self._asked = asyncio.ensure_future(self._threads.run(next, self._body, _END))
        return await asyncio.shield(self._asked)

    async def close(self) -> None:
        """Lets a generator run its `finally`; waits for a thread that is still in it."""
        if isinstance(self._body, Iterator):
            if self._asked is not None and not self._asked.done():
                await asyncio.wait({self._asked})
            close = getattr(self._body, "close", None)
            if close is not None:
                await self._threads.run(close)
        elif (aclose := getattr(self._body, "aclose", None)) is not None:
            await aclose()

    END = _END


async def send_pieces(source: Source, first: object, *, inbox: Inbox, send: Send) -> None:
    """Sends the body from its first piece on; stops making it when the caller leaves."""
    sending = asyncio.ensure_future(_send_all(source, first, send))
    watching = asyncio.ensure_future(inbox.until_gone())
    try:
        await asyncio.wait({sending, watching}, return_when=asyncio.FIRST_COMPLETED)
        if sending.done():
            sending.result()
    finally:
        await _stop(sending, watching)


async def _send_all(source: Source, first: object, send: Send) -> None:
    piece = first
    while piece is not _END:
        await send({"type": "http.response.body", "body": encode_piece(piece), "more_body": True})
        piece = await source.next()
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _stop(*tasks: "asyncio.Future[None]") -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with contextlib.suppress(BaseException):  # its outcome was looked at already
            await task
