"""The types of ASGI, as far as they are used here."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
RawHeaders: TypeAlias = list[tuple[bytes, bytes]]


async def refuse_websocket(send: Send) -> None:
    """Answers a WebSocket's opening with 403, as ASGI has it."""
    await send({"type": "websocket.close", "code": 1000, "reason": ""})


async def send_text(send: Send, text: str, *, status: int) -> None:
    """A whole plain-text response."""
    await send_body(send, text.encode(), status=status, kind=b"text/plain; charset=utf-8")


async def send_body(send: Send, body: bytes, *, status: int, kind: bytes) -> None:
    """A whole response of that content type."""
    headers: RawHeaders = [(b"content-type", kind), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
