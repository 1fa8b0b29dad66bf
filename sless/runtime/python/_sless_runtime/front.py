"""What stands around every app: health, drain, errors and the lifespan's failures."""

import asyncio
import contextlib
import sys
from http import HTTPStatus
from typing import Any

from .asgi import (
    App,
    Message,
    RawHeaders,
    Receive,
    Scope,
    Send,
    refuse_websocket,
    send_body,
    send_text,
)
from .failure import describe, print_traceback
from .inbox import CallerGone

OWN_PATH = "/_"
_SERVER_ERROR = "The function raised an error; its log has the traceback.\n"
_NO_ANSWER = "The function ended without an answer.\n"
_GOING_DOWN = "The function is shutting down.\n"
_INTERNAL_ERROR = 1011
"""The code that closes a WebSocket whose app raised."""


class Front:
    """The outermost app. `app` is set once the function is imported."""

    def __init__(self) -> None:
        self.app: App = _nothing
        self.draining = False
        self.startup_error: str | None = None
        """Why the app's lifespan did not start, in one line."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._run_lifespan(scope, receive, send)
        elif scope["path"] == OWN_PATH or scope["path"].startswith(f"{OWN_PATH}/"):
            await self._answer_own(scope, send)
        elif scope["type"] == "websocket":
            await self._run_websocket(scope, receive, send)
        else:
            await self._run_request(scope, receive, Outgoing(send, front=self))

    async def _run_lifespan(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def watch(message: Message) -> None:
            if message["type"] == "lifespan.startup.failed":
                lines = str(message.get("message", "")).strip().splitlines() or ["no reason given"]
                self.startup_error = self.startup_error or lines[-1].strip()
            await send(message)

        try:
            await self.app(scope, receive, watch)
        except Exception as error:
            if self.startup_error is not None:
                print_traceback(error)
                self.startup_error = describe(error)
            raise  # an app that knows no lifespan ends up here too; the server goes on then

    async def _answer_own(self, scope: Scope, send: Send) -> None:
        if scope["type"] == "websocket":
            await refuse_websocket(send)
        elif scope["path"] == "/_/health":
            await _send_status(send, "alive", status=HTTPStatus.OK)
        elif scope["path"] == "/_/ready" and self.draining:
            await _send_status(send, "draining", status=HTTPStatus.SERVICE_UNAVAILABLE)
        elif scope["path"] == "/_/ready":
            await _send_status(send, "ready", status=HTTPStatus.OK)
        else:
            await _send_status(send, "unknown", status=HTTPStatus.NOT_FOUND)

    async def _run_websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        accepted = False

        async def watch(message: Message) -> None:
            nonlocal accepted
            accepted = accepted or message["type"] == "websocket.accept"
            await send(message)

        try:
            await self.app(scope, receive, watch)
        except Exception as error:
            _log_failure(scope, error)
            if not accepted:
                raise  # the server answers 500
            with contextlib.suppress(Exception):  # it may be closed already
                await send({"type": "websocket.close", "code": _INTERNAL_ERROR})

    async def _run_request(self, scope: Scope, receive: Receive, out: "Outgoing") -> None:
        try:
            await self.app(scope, receive, out)
        except CallerGone:
            await out.finish(_NO_ANSWER, status=HTTPStatus.BAD_REQUEST)
        except asyncio.CancelledError:
            await out.finish(_GOING_DOWN, status=HTTPStatus.SERVICE_UNAVAILABLE)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the process outlives any of them
            _log_failure(scope, error)
            await out.finish(_SERVER_ERROR, status=HTTPStatus.INTERNAL_SERVER_ERROR)
        else:
            await out.finish(_NO_ANSWER, status=HTTPStatus.INTERNAL_SERVER_ERROR)


class Outgoing:
    """A `send` that knows how far the response is."""

    def __init__(self, send: Send, *, front: Front) -> None:
        self._send = send
        self._front = front
        self._started = False
        self._complete = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started = True
            if self._front.draining:
                headers: RawHeaders = [*message.get("headers", ()), (b"connection", b"close")]
                message = {**message, "headers": headers}
        elif message["type"] == "http.response.body":
            self._complete = not message.get("more_body", False)
        await self._send(message)

    async def finish(self, text: str, *, status: HTTPStatus) -> None:
        """That response if there is none yet; one that was begun is cut by the server."""
        if not self._started:
            await send_text(self._send, text, status=status)


async def _nothing(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send_text(send, "The function is starting.\n", status=HTTPStatus.SERVICE_UNAVAILABLE)


async def _send_status(send: Send, word: str, *, status: HTTPStatus) -> None:
    await send_body(
        send, b'{"status":"%s"}\n' % word.encode(), status=status, kind=b"application/json"
    )


def _log_failure(scope: Scope, error: BaseException) -> None:
    """The request and the traceback, on stderr."""
    ids = [value for name, value in scope["headers"] if name == b"x-request-id"]
    told = f" (request {ids[0].decode('latin-1')})" if ids else ""
    what: Any = scope.get("method", "WebSocket")
    print(f"sless: {what} {scope['path']!r} failed{told}", file=sys.stderr)  # noqa: T201 - the log
    print_traceback(error)
