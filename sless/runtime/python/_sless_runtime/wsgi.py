"""A WSGI app (PEP 3333) as an ASGI app.

Own code, because uvicorn's adapter is deprecated and the library it names, a2wsgi 1.10, takes a
caller who left in mid upload for the end of the body, reads nothing on `readline(limit)`, and does
not notice that nobody listens to an endless answer.
"""

import asyncio
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, TypeAlias
from urllib.parse import unquote_to_bytes

from .asgi import RawHeaders, Receive, Scope, Send, refuse_websocket
from .inbox import Inbox
from .streaming import Source, send_pieces
from .threads import Threads

_BUFFER_BYTES = 64 * 1024

ErrorInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None]
WsgiApp: TypeAlias = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class WsgiAdapter:
    """Calls the app in a thread and sends each piece when it is made."""

    def __init__(self, app: WsgiApp, threads: Threads) -> None:
        self._app = app
        self._threads = threads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await refuse_websocket(send)
            return
        inbox = Inbox(receive)
        call = Call(self._app, render_environ(scope, body=open_body(inbox)))
        source = Source(call.run(), self._threads)
        try:
            first = await source.next()
            await send(call.head())
            if scope["method"] == "HEAD":
                first = source.END
            await send_pieces(source, first, inbox=inbox, send=send)
        finally:
            await source.close()


class Call:
    """One call of the app: what it told `start_response`, and its pieces."""

    def __init__(self, app: WsgiApp, environ: dict[str, Any]) -> None:
        self._app = app
        self._environ = environ
        self._status: str | None = None
        self._headers: list[tuple[str, str]] = []
        self._written: list[bytes] = []
        self._sent = False

    def run(self) -> Iterator[bytes]:
        """The body's pieces that are not empty; runs the app's `close` at the end."""
        pieces = self._app(self._environ, self._start_response)
        try:
            for piece in pieces:
                yield from self._take_written()
                if piece:
                    yield piece
            yield from self._take_written()
        finally:
            close = getattr(pieces, "close", None)
            if close is not None:
                close()

    def head(self) -> dict[str, Any]:
        """The ASGI message that starts the response; from now on it cannot change."""
        if self._status is None:
            raise RuntimeError("The WSGI app did not call start_response.")
        self._sent = True
        headers: RawHeaders = [
            (name.strip().lower().encode("latin-1"), value.strip().encode("latin-1"))
            for name, value in self._headers
        ]
        status = int(self._status.partition(" ")[0])
        return {"type": "http.response.start", "status": status, "headers": headers}

    def _start_response(
        self, status: str, headers: list[tuple[str, str]], error: ErrorInfo | None = None
    ) -> Callable[[bytes], None]:
        if error is not None and self._sent:
            raise error[1].with_traceback(error[2])
        if error is None and self._status is not None:
            raise AssertionError("The WSGI app called start_response twice.")
        self._status, self._headers = status, headers
        return self._written.append

    def _take_written(self) -> Iterator[bytes]:
        written, self._written[:] = list(self._written), []
        yield from written


class Body(io.RawIOBase):
    """A request's body for code that blocks."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._loop = asyncio.get_running_loop()
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As `io.RawIOBase.readinto`; raises `CallerGone`, an `OSError`."""
        while not self._rest and not self._inbox.complete:
            piece = asyncio.run_coroutine_threadsafe(self._inbox.piece(), self._loop).result()
            self._rest = memoryview(piece)
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def open_body(inbox: Inbox) -> io.BufferedReader:
    """The body as a file."""
    return io.BufferedReader(Body(inbox), _BUFFER_BYTES)


def render_environ(scope: Scope, *, body: io.BufferedReader) -> dict[str, Any]:
    """The WSGI environment of a request."""
    target: bytes = scope.get("raw_path") or scope["path"].encode()
    query: str = scope["query_string"].decode("latin-1")
    host, port = scope.get("server") or ("localhost", 80)
    client = scope.get("client") or ("", 0)
    return {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(target).decode("latin-1"),
        "QUERY_STRING": query,
        "REQUEST_URI": target.decode("latin-1") + (f"?{query}" if query else ""),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": host,
        "SERVER_PORT": str(port),
        "REMOTE_ADDR": client[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": body,
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        **_render_headers(scope["headers"]),
    }


def _render_headers(headers: RawHeaders) -> dict[str, str]:
    """Headers as variables; those with `_` are left out, or they could pose as ones with `-`."""
    variables: dict[str, str] = {}
    for raw_name, raw_value in headers:
        if b"_" in raw_name:
            continue
        name = raw_name.decode("latin-1").upper().replace("-", "_")
        key = name if name in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{name}"
        value = raw_value.decode("latin-1")
        joint = "; " if key == "HTTP_COOKIE" else ","
        variables[key] = f"{variables[key]}{joint}{value}" if key in variables else value
    return variables
