"""What a handler is given."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qsl

from .asgi import Scope
from .inbox import Inbox

_T = TypeVar("_T")
Waiting: TypeAlias = _T | Coroutine[Any, Any, _T]
"""The value itself in a thread, what to await on the event loop."""


class BadRequest(ValueError):
    """The request's body is not what the handler asked for; answered with 400 if not caught."""


class Fields(Mapping[str, str]):
    """Names with one or more values, in order; a mapping to one value each."""

    def __init__(self, pairs: list[tuple[str, str]], *, ignore_case: bool) -> None:
        self._ignore_case = ignore_case
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(self._key(name), []).append(value)

    def __getitem__(self, name: str) -> str:
        """Headers are joined by commas, as HTTP allows; of a query the last one counts."""
        values = self._values[self._key(name)]
        if not self._ignore_case:
            return values[-1]
        return ("; " if self._key(name) == "cookie" else ", ").join(values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._values!r})"

    def get_all(self, name: str) -> list[str]:
        """Every value of that name; none gives an empty list."""
        return list(self._values.get(self._key(name), ()))

    def _key(self, name: str) -> str:
        return name.lower() if self._ignore_case else name


class Request:
    """One HTTP request.

    `body`, `text`, `json` and `stream` read what the caller sends. In an `async def` handler they
    are awaited (`await request.json()`, `async for piece in request.stream()`); in a plain one
    they are called (`request.json()`, `for piece in request.stream()`).
    """

    def __init__(self, scope: Scope, inbox: Inbox) -> None:
        self.scope = scope
        """The ASGI scope, for what is not below."""
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        """Decoded; `scope["raw_path"]` has the bytes."""
        self.query_string: str = scope["query_string"].decode("latin-1")
        self._inbox = inbox
        self._body: bytes | None = None
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    @property
    def query(self) -> Fields:
        """The parameters after `?`, decoded."""
        return Fields(parse_qsl(self.query_string, keep_blank_values=True), ignore_case=False)

    @property
    def headers(self) -> Fields:
        """By name in any case."""
        raw: list[tuple[bytes, bytes]] = self.scope["headers"]
        pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in raw]
        return Fields(pairs, ignore_case=True)

    def body(self) -> "Waiting[bytes]":
        """The whole body as bytes."""
        return self._wait(self._read())

    def text(self) -> "Waiting[str]":
        """The whole body as text; raises `BadRequest` unless it is UTF-8."""
        return self._wait(self._read_text())

    def json(self) -> "Waiting[object]":
        """The body's JSON; raises `BadRequest` if it is none."""
        return self._wait(self._read_json())

    def stream(self) -> "Pieces":
        """The body as it arrives, in pieces of bytes, never all in memory; readable once."""
        return Pieces(self)

    def _wait(self, reading: Coroutine[Any, Any, _T]) -> "Waiting[_T]":
        """The coroutine itself on the event loop's thread, its result on any other."""
        if threading.get_ident() == self._thread:
            return reading
        return asyncio.run_coroutine_threadsafe(reading, self._loop).result()

    async def _next(self) -> bytes:
        """The next piece that is not empty; an empty one at the end."""
        piece = b""
        while not piece and not self._inbox.complete:
            piece = await self._inbox.piece()
        return piece

    async def _read(self) -> bytes:
        if self._body is None:
            self._body = b"".join([piece async for piece in self.stream()])
        return self._body

    async def _read_text(self) -> str:
        try:
            return (await self._read()).decode()
        except UnicodeDecodeError as error:
            raise BadRequest(f"The body is no UTF-8 text: {error}.") from error

    async def _read_json(self) -> object:
        try:
            value: object = json.loads(await self._read())
        except ValueError as error:
            raise BadRequest(f"The body is no JSON: {error}.") from error
        return value


class Pieces:
    """A body in pieces: an iterator for plain handlers, an async one for async handlers."""

    def __init__(self, request: Request) -> None:
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._request._body:  # noqa: SLF001 - one class in two parts
            yield self._request._body  # noqa: SLF001 - likewise
        while piece := await self._request._next():  # noqa: SLF001 - likewise
            yield piece

    def __iter__(self) -> Iterator[bytes]:
        if self._request._body:  # noqa: SLF001 - likewise
            yield self._request._body  # noqa: SLF001 - likewise
        while piece := self._request._wait(self._request._next()):  # noqa: SLF001 - likewise
            if not isinstance(piece, bytes):
                piece.close()
                raise TypeError("An async handler reads a stream with `async for`.")
            yield piece
