"""A handler as an ASGI app."""

import inspect
from collections.abc import Callable
from typing import Any

from .asgi import Receive, Scope, Send, refuse_websocket
from .inbox import Inbox
from .kinds import is_async
from .request import BadRequest, Request
from .results import (
    BYTES,
    TEXT,
    AppReply,
    Reply,
    StreamReply,
    has_no_body,
    parse_result,
    render_head,
)
from .streaming import Source, send_pieces
from .threads import Threads

BAD_REQUEST = 400


class HandlerApp:
    """Calls `handler(request)` and sends what it returns."""

    def __init__(self, handler: Callable[[Request], Any], threads: Threads) -> None:
        self._handler = handler
        self._on_loop = is_async(handler)
        self._threads = threads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await refuse_websocket(send)
            return
        inbox = Inbox(receive)
        exchange = Exchange(scope, inbox=inbox, send=send, threads=self._threads)
        try:
            await exchange.answer(await self._call(Request(scope, inbox)))
        except BadRequest as error:
            if exchange.started:
                raise
            await exchange.answer((f"{error}\n", BAD_REQUEST))

    async def _call(self, request: Request) -> object:
        result: object
        if self._on_loop:
            result = self._handler(request)
        else:
            result = await self._threads.run(self._handler, request)
        return await result if inspect.isawaitable(result) else result


class Exchange:
    """One request's way out."""

    def __init__(self, scope: Scope, *, inbox: Inbox, send: Send, threads: Threads) -> None:
        self._scope = scope
        self._inbox = inbox
        self._send = send
        self._threads = threads
        self._head = scope["method"] == "HEAD"
        self.started = False

    async def answer(self, result: object) -> None:
        """Sends a handler's result; raises `BadResult`."""
        match parse_result(result):
            case Reply() as reply:
                await self._send_whole(reply)
            case StreamReply() as reply:
                await self._send_stream(reply)
            case AppReply(app):
                self.started = True
                await app(self._scope, self._inbox.receive, self._send)

    async def _send_whole(self, reply: Reply) -> None:
        await self._start(reply, kind=reply.kind)
        body = b"" if has_no_body(reply.status) else reply.body
        await self._send({"type": "http.response.body", "body": body})

    async def _send_stream(self, reply: StreamReply) -> None:
        """Nothing is sent before the first piece: until then an error can still be a 500."""
        source = Source(reply.body, self._threads)
        try:
            first = await source.next()
            await self._start(reply, kind=TEXT if isinstance(first, str) else BYTES)
            if self._head or has_no_body(reply.status):
                first = source.END
            await send_pieces(source, first, inbox=self._inbox, send=self._send)
        finally:
            await source.close()

    async def _start(self, reply: Reply | StreamReply, *, kind: bytes) -> None:
        head = render_head(reply, kind=kind, keep_length=self._head)
        self.started = True
        await self._send(head)
