"""How an object is called, what a result means, and a request's parts."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import pytest

from sless.runtime.python._sless_runtime.asgi import Message
from sless.runtime.python._sless_runtime.failure import StartFailed
from sless.runtime.python._sless_runtime.inbox import CallerGone, Inbox
from sless.runtime.python._sless_runtime.kinds import Kind, find_kind, is_async
from sless.runtime.python._sless_runtime.request import Fields
from sless.runtime.python._sless_runtime.results import (
    BadResult,
    Reply,
    StreamReply,
    encode_piece,
    parse_result,
    render_head,
)
from sless.runtime.python._sless_runtime.server import open_listener
from sless.runtime.python._sless_runtime.wsgi import _render_headers


def handler(request: object) -> None: ...
async def async_handler(request: object) -> None: ...
async def generator(request: object) -> AsyncIterator[object]:
    yield request


def with_default(request: object = None) -> None: ...
def with_more(request: object, more: int = 1, *, other: int = 2) -> None: ...
async def asgi(scope: object, receive: object, send: object) -> None: ...
def wsgi(environ: object, start_response: object) -> None: ...
def anything(*args: object) -> None: ...
async def app(*args: object) -> None: ...
def nothing() -> None: ...
def lambda_style(event: object, context: object) -> None: ...
def four(a: int, b: int, c: int, d: int) -> None: ...


class Asgi:
    async def __call__(self, scope: object, receive: object, send: object) -> None: ...


class Wsgi:
    def __call__(self, environ: object, start_response: object) -> None: ...

    def method(self, request: object) -> None: ...


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (handler, Kind.HANDLER),
        (async_handler, Kind.HANDLER),
        (generator, Kind.HANDLER),
        (with_default, Kind.HANDLER),
        (with_more, Kind.HANDLER),
        (partial(wsgi, {}), Kind.HANDLER),
        (Wsgi().method, Kind.HANDLER),
        (anything, Kind.HANDLER),
        (len, Kind.HANDLER),
        (asgi, Kind.ASGI),
        (Asgi(), Kind.ASGI),
        (app, Kind.ASGI),
        (wsgi, Kind.WSGI),
        (Wsgi(), Kind.WSGI),
    ],
)
def test_a_kind_is_what_it_can_be_called_with(target: Callable[..., Any], kind: Kind) -> None:
    assert find_kind(target, where="main:app") is kind


@pytest.mark.parametrize(
    ("target", "says"),
    [
        (nothing, "m:x takes nothing; a handler takes one argument, the request."),
        (lambda_style, "m:x takes event, context; a handler takes one argument, the request."),
        (four, "m:x takes a, b, c, d; a handler takes one argument, the request."),
        (Wsgi, "m:x is a class; make an instance, or a function of it."),
        (None, "m:x is of type NoneType, which nobody can call."),
    ],
)
def test_what_is_none_of_them_is_refused(target: object, says: str) -> None:
    with pytest.raises(StartFailed) as failed:
        find_kind(target, where="m:x")
    assert failed.value.message == says


@pytest.mark.parametrize("target", [async_handler, generator, Asgi(), partial(async_handler)])
def test_what_never_blocks_runs_on_the_loop(target: Callable[..., Any]) -> None:
    assert is_async(target)


@pytest.mark.parametrize("target", [handler, Wsgi(), Wsgi().method, len, partial(handler)])
def test_what_may_block_does_not(target: Callable[..., Any]) -> None:
    assert not is_async(target)


def test_a_streams_reply_has_no_length() -> None:
    reply = parse_result((iter("ab"), 201, {"Content-Length": "2", "X-A": "1"}))
    assert isinstance(reply, StreamReply)
    head = render_head(reply, kind=b"t/k", keep_length=False)
    assert head["headers"] == [(b"x-a", b"1"), (b"content-type", b"t/k")]


def test_a_heads_own_length_is_kept() -> None:
    reply = parse_result(("", 200, {"Content-Length": "77"}))
    assert isinstance(reply, Reply)
    assert (b"content-length", b"77") in render_head(reply, kind=b"t", keep_length=True)["headers"]
    assert (b"content-length", b"0") in render_head(reply, kind=b"t", keep_length=False)["headers"]


@pytest.mark.parametrize("status", [204, 304])
def test_no_body_no_length_no_type(status: int) -> None:
    reply = parse_result(("ignored", status))
    assert isinstance(reply, Reply)
    assert render_head(reply, kind=b"t", keep_length=False)["headers"] == []


@pytest.mark.parametrize(
    "result",
    [
        object(),
        1,
        ("x",),
        ("x", "200"),
        ("x", 99),
        ("x", 600),
        ("x", 200, 5),
        ("x", 200, [("a",)]),
        ("x", 200, {"a b": "1"}),
        ("x", 200, {"a": "1\n2"}),
        ("x", 200, {"a": "\u20ac"}),
        {"a": object()},
        (handler, 200),
    ],
)
def test_what_is_no_result_is_refused(result: object) -> None:
    with pytest.raises(BadResult):
        parse_result(result)


def test_a_piece_is_text_or_bytes() -> None:
    assert encode_piece("ü") == "ü".encode()
    assert encode_piece(memoryview(b"ab")) == b"ab"
    with pytest.raises(BadResult, match="streamed a dict"):
        encode_piece({})


def test_fields_are_a_mapping_with_all_values() -> None:
    fields = Fields([("A", "1"), ("a", "2"), ("b", "3")], ignore_case=False)
    assert (dict(fields), fields.get_all("A"), fields.get_all("x")) == (
        {"A": "1", "a": "2", "b": "3"},
        ["1"],
        [],
    )
    headers = Fields([("A", "1"), ("a", "2")], ignore_case=True)
    assert (headers["A"], "a" in headers, len(headers)) == ("1, 2", True, 1)


def test_a_header_with_an_underscore_cannot_pose_as_another() -> None:
    raw = [(b"x-user", b"real"), (b"x_user", b"forged"), (b"cookie", b"a"), (b"cookie", b"b")]
    assert _render_headers(raw) == {"HTTP_X_USER": "real", "HTTP_COOKIE": "a; b"}


def test_asyncio_takes_the_listener_for_tcp() -> None:
    """Otherwise it sets no TCP_NODELAY, and every answer takes 40 ms."""
    with open_listener("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def inbox_of(*messages: Message) -> tuple[Inbox, "asyncio.Queue[Message]"]:
    queue: asyncio.Queue[Message] = asyncio.Queue()
    for message in messages:
        queue.put_nowait(message)
    return Inbox(queue.get), queue


def body(text: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": text, "more_body": more}


GONE: Message = {"type": "http.disconnect"}


async def test_a_message_taken_by_the_watcher_reaches_the_reader() -> None:
    inbox, queue = inbox_of(body(b"a", more=True))
    watching = asyncio.ensure_future(inbox.until_gone())
    await asyncio.sleep(0)  # the watcher takes the first message
    assert await inbox.piece() == b"a"
    queue.put_nowait(body(b"b", more=False))
    assert await inbox.piece() == b"b"
    assert inbox.complete
    assert not watching.done()
    queue.put_nowait(GONE)
    await asyncio.wait_for(watching, 5)


async def test_the_watcher_leaves_an_unread_body_with_its_sender() -> None:
    inbox, queue = inbox_of(body(b"a", more=True), body(b"b", more=True), GONE)
    watching = asyncio.ensure_future(inbox.until_gone())
    for _ in range(5):
        await asyncio.sleep(0)
    assert queue.qsize() == 2
    watching.cancel()


async def test_a_body_that_ends_early_is_no_body() -> None:
    inbox, _ = inbox_of(body(b"a", more=True), GONE)
    assert await inbox.piece() == b"a"
    with pytest.raises(CallerGone):
        await inbox.piece()
