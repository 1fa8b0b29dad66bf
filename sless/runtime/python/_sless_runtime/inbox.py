"""A request's body as it arrives, and word of the caller's leaving.

ASGI has one `receive` for both, and only one may wait on it. A stream of answers must notice that
nobody listens any more while the handler may still be reading, so a message that the watcher
takes too early is kept for the reader.
"""

import asyncio
from collections import deque

from .asgi import Message, Receive


class CallerGone(ConnectionError):
    """The caller closed the connection before its request was complete."""


class Inbox:
    """The messages of one request."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._kept: deque[Message] = deque()
        self._one_at_a_time = asyncio.Lock()
        self._emptied = asyncio.Event()
        self.complete = False
        """Whether the whole body was handed out."""

    async def receive(self) -> Message:
        """The next message, as ASGI's own `receive`."""
        async with self._one_at_a_time:
            message = self._kept.popleft() if self._kept else await self._receive()
            self._emptied.set()
            return message

    async def piece(self) -> bytes:
        """The next bytes of the body; none when it is complete, and sometimes before.

        Raises:
            CallerGone: the body will never be complete.
        """
        if self.complete:
            return b""
        message = await self.receive()
        if message["type"] == "http.disconnect":
            raise CallerGone("The caller left before its request was complete.")
        self.complete = not message.get("more_body", False)
        body: bytes = message.get("body", b"")
        return body

    async def until_gone(self) -> None:
        """Returns when the caller has left; takes at most one message of an unread body ahead."""
        while True:
            async with self._one_at_a_time:
                message = await self._receive()
                self._kept.append(message)
                self._emptied.clear()
            if message["type"] == "http.disconnect":
                return
            if message.get("more_body", False):
                await self._emptied.wait()
