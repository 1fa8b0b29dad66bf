"""What a handler may return, and the response that it means."""

import inspect
import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from .asgi import App, RawHeaders

NO_CONTENT = 204
NOT_MODIFIED = 304
TEXT = b"text/plain; charset=utf-8"
BYTES = b"application/octet-stream"
JSON = b"application/json"

_STATUS = range(200, 600)
_PAIR, _TRIPLE = 2, 3
_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(rb"[^\x00\r\n]*")
_FRAMING = frozenset({b"content-length", b"transfer-encoding", b"connection"})
"""The server's affair, whatever the handler says."""

Stream: TypeAlias = AsyncIterator[Any] | Iterator[Any]


class BadResult(TypeError):
    """The handler returned something that is no response."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response whose body is at hand."""

    status: int
    headers: RawHeaders
    body: bytes
    kind: bytes = field(default=BYTES)
    """The content type if the headers name none."""


@dataclass(frozen=True, slots=True)
class StreamReply:
    """A response whose body is made while it is sent."""

    status: int
    headers: RawHeaders
    body: Stream


@dataclass(frozen=True, slots=True)
class AppReply:
    """A response that sends itself, as Starlette's do."""

    app: App


def parse_result(result: object) -> Reply | StreamReply | AppReply:
    """The reply that a handler's result means; raises `BadResult`."""
    if result is None:
        return Reply(NO_CONTENT, [], b"")
    if isinstance(result, tuple):
        return _parse_tuple(result)
    if _is_asgi_response(result):
        return AppReply(cast("App", result))
    return _parse_body(result, 200, [])


def render_head(reply: Reply | StreamReply, *, kind: bytes, keep_length: bool) -> dict[str, Any]:
    """The ASGI message that starts the response; `kind` is used when no content type is given.

    A HEAD's handler may know the length of a body that it does not make: `keep_length`.
    """
    told = [name for name, _ in reply.headers]
    kept = [(name, value) for name, value in reply.headers if name not in _FRAMING]
    body = reply.body if isinstance(reply, Reply) else None
    if b"content-type" not in told and not has_no_body(reply.status):
        kept.append((b"content-type", kind))
    if keep_length and b"content-length" in told:
        kept += [pair for pair in reply.headers if pair[0] == b"content-length"]
    elif body is not None and not has_no_body(reply.status):
        kept.append((b"content-length", b"%d" % len(body)))
    return {"type": "http.response.start", "status": reply.status, "headers": kept}


def has_no_body(status: int) -> bool:
    """Whether HTTP forbids a body for that status."""
    return status in {NO_CONTENT, NOT_MODIFIED}


def encode_piece(piece: object) -> bytes:
    """The bytes of one streamed piece; raises `BadResult`."""
    if isinstance(piece, str):
        return piece.encode()
    if isinstance(piece, bytes | bytearray | memoryview):
        return bytes(piece)
    raise BadResult(f"The handler streamed a {type(piece).__name__}; pieces are str or bytes.")


def _parse_tuple(result: tuple[Any, ...]) -> Reply | StreamReply:
    if len(result) not in {_PAIR, _TRIPLE}:
        raise BadResult(
            f"The handler returned a tuple of {len(result)}; "
            "it must be (body, status) or (body, status, headers)."
        )
    body, status, *rest = result
    if not isinstance(status, int) or status not in _STATUS:
        raise BadResult(f"The handler returned the status {status!r}; it must be 200 to 599.")
    return _parse_body(b"" if body is None else body, int(status), _parse_headers(*rest))


def _parse_body(body: object, status: int, headers: RawHeaders) -> Reply | StreamReply:
    if isinstance(body, str):
        return Reply(status, headers, body.encode(), TEXT)
    if isinstance(body, bytes | bytearray | memoryview):
        return Reply(status, headers, bytes(body))
    if isinstance(body, dict | list):
        return Reply(status, headers, _encode_json(body), JSON)
    if isinstance(body, AsyncIterator | Iterator):
        return StreamReply(status, headers, body)
    raise BadResult(
        f"The handler returned a {type(body).__name__}; it must be a str, bytes, dict, list, "
        "None, (body, status), (body, status, headers), an ASGI response or an iterator."
    )


def _encode_json(body: object) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        raise BadResult(f"The handler returned what JSON cannot hold: {error}.") from error


def _parse_headers(headers: object = None) -> RawHeaders:
    """Headers from a mapping, whose values may be lists, or from pairs."""
    if headers is None:
        return []
    pairs = headers.items() if isinstance(headers, Mapping) else cast("Iterable[Any]", headers)
    try:
        flat = [
            (name, each)
            for name, value in pairs
            for each in (value if isinstance(value, list | tuple) else [value])
        ]
    except (TypeError, ValueError):
        raise BadResult("The handler's headers must be a mapping, or pairs.") from None
    return [_encode_header(name, value) for name, value in flat]


def _encode_header(name: object, value: object) -> tuple[bytes, bytes]:
    try:
        raw_name = (name if isinstance(name, bytes) else str(name).encode("ascii")).lower()
        raw_value = (value if isinstance(value, bytes) else str(value).encode("latin-1")).strip()
    except UnicodeEncodeError:
        raise BadResult(f"The handler's header {name!r} has letters that HTTP forbids.") from None
    if not _NAME.fullmatch(raw_name) or not _VALUE.fullmatch(raw_value):
        raise BadResult(f"The handler's header {name!r} is none that HTTP allows.")
    return raw_name, raw_value


def _is_asgi_response(result: object) -> bool:
    return not inspect.isroutine(result) and inspect.iscoroutinefunction(type(result).__call__)
