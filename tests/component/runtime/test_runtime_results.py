"""What a handler may return, as the caller gets it."""

import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from tests.component.runtime.conftest import Prepare
from tests.component.runtime.function_process import (
    FunctionProcess,
    receive_all,
    wait_until,
)

pytestmark = pytest.mark.real

HANDLER = '''
import asyncio, json, sys, threading, time

closed = threading.Event()
gates = {}

def gate(name):
    return gates.setdefault(name, threading.Event())

class Response:
    """As Starlette's are."""
    async def __call__(self, scope, receive, send):
        await send({"type": "http.response.start", "status": 203, "headers": [(b"x-own", b"1")]})
        await send({"type": "http.response.body", "body": b"own"})

def pieces(name):
    try:
        yield "first"
        gate(name).wait(20)
        yield b"second"
    finally:
        closed.set()

async def async_pieces(name):
    yield "first"
    while not gate(name).is_set():
        await asyncio.sleep(0.01)
    yield "second"

def endless():
    try:
        while True:
            yield "tick\\n"
            time.sleep(0.01)
    finally:
        closed.set()

def broken():
    yield "begun"
    raise RuntimeError("in the middle")

def unbegun():
    raise RuntimeError("before the first piece")
    yield "never"

RESULTS = {
    "/str": lambda: "grüße",
    "/bytes": lambda: b"\\x00\\xff",
    "/dict": lambda: {"ä": [1, None]},
    "/list": lambda: [1, 2],
    "/none": lambda: None,
    "/pair": lambda: ("made", 201),
    "/triple": lambda: ({"a": 1}, 202, {"X-One": "1", "Set-Cookie": ["a=1", "b=2"]}),
    "/redirect": lambda: (None, 307, [("Location", "/else?a=%2F")]),
    "/no-body": lambda: ("ignored", 204),
    "/html": lambda: ("<p>", 200, {"Content-Type": "text/html"}),
    "/length": lambda: ("four", 200, {"Content-Length": "999", "Transfer-Encoding": "chunked"}),
    "/response": Response,
    "/stream": lambda: pieces("stream"),
    "/async-stream": lambda: async_pieces("async-stream"),
    "/head-stream": lambda: pieces("head"),
    "/endless": endless,
    "/event-stream": lambda: (pieces("sse"), 200, {"Content-Type": "text/event-stream"}),
    "/broken": broken,
    "/unbegun": unbegun,
    "/object": lambda: object(),
    "/set-in-json": lambda: {"a": {1}},
    "/bad-status": lambda: ("x", 99),
    "/long-tuple": lambda: ("x", 200, {}, 1),
    "/bad-header": lambda: ("x", 200, {"X-A": "1\\r\\nX-B: 2"}),
    "/raise": lambda: 1 / 0,
    "/exit": lambda: sys.exit(3),
    "/stop": lambda: next(iter(())),
    "/closed": lambda: {"closed": closed.wait(20)},
}

def handler(request):
    if request.path.startswith("/open/"):
        gate(request.path.removeprefix("/open/")).set()
        return None
    return RESULTS[request.path]()
'''


@pytest.fixture(scope="module")
def function(run: Prepare) -> FunctionProcess:
    return run({"handler.py": HANDLER})


@pytest.fixture
def client(function: FunctionProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=function.url, timeout=20) as client:
        yield client


@pytest.mark.parametrize(
    ("path", "status", "kind", "body"),
    [
        ("/str", 200, "text/plain; charset=utf-8", "grüße".encode()),
        ("/bytes", 200, "application/octet-stream", b"\x00\xff"),
        ("/dict", 200, "application/json", '{"ä":[1,null]}'.encode()),
        ("/list", 200, "application/json", b"[1,2]"),
        ("/none", 204, None, b""),
        ("/pair", 201, "text/plain; charset=utf-8", b"made"),
        ("/no-body", 204, None, b""),
        ("/html", 200, "text/html", b"<p>"),
        ("/length", 200, "text/plain; charset=utf-8", b"four"),
        ("/response", 203, None, b"own"),
    ],
)
def test_each_result_becomes_its_response(
    client: httpx.Client, path: str, status: int, kind: str | None, body: bytes
) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.content) == (status, body)
    assert answer.headers.get("content-type") == kind


def test_headers_are_kept_and_repeated(client: httpx.Client) -> None:
    answer = client.get("/triple")
    assert answer.headers["x-one"] == "1"
    assert answer.headers.get_list("set-cookie") == ["a=1", "b=2"]


def test_a_redirect_is_passed_on_unchanged(client: httpx.Client) -> None:
    answer = client.get("/redirect")
    assert (answer.status_code, answer.headers["location"]) == (307, "/else?a=%2F")


def test_the_server_does_not_name_itself_and_dates_its_answers(client: httpx.Client) -> None:
    headers = client.get("/str").headers
    assert "server" not in headers
    assert "date" in headers


@pytest.mark.parametrize("path", ["/str", "/dict", "/head-stream"])
def test_head_has_the_headers_of_get_and_no_body(client: httpx.Client, path: str) -> None:
    client.get("/open/head")
    got, head = client.get(path), client.head(path)
    assert head.content == b""
    assert head.headers.get("content-type") == got.headers.get("content-type")
    assert head.headers.get("content-length") == got.headers.get("content-length")


@pytest.mark.parametrize("name", ["stream", "async-stream", "event-stream"])
def test_each_piece_arrives_when_it_is_made(function: FunctionProcess, name: str) -> None:
    gate = "sse" if name == "event-stream" else name
    with httpx.stream("GET", f"{function.url}/{name}", timeout=20) as answer:
        pieces = answer.iter_raw()
        assert next(pieces) == b"first"
        httpx.get(f"{function.url}/open/{gate}")
        assert next(pieces) == b"second"
        assert list(pieces) == []


def test_a_stream_stops_when_its_caller_leaves(run: Prepare) -> None:
    function = run({"handler.py": HANDLER})
    with httpx.stream("GET", f"{function.url}/endless", timeout=20) as answer:
        assert next(answer.iter_raw())
    assert httpx.get(f"{function.url}/closed", timeout=20).json() == {"closed": True}


def test_a_stream_that_breaks_is_cut(client: httpx.Client, function: FunctionProcess) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        client.get("/broken")
    wait_until(lambda: "RuntimeError: in the middle" in function.log("stderr"))
    assert client.get("/str").status_code == 200


@pytest.mark.parametrize(
    ("path", "logged"),
    [
        ("/raise", "ZeroDivisionError: division by zero"),
        ("/unbegun", "RuntimeError: before the first piece"),
        ("/exit", "SystemExit: 3"),
        ("/stop", "RuntimeError: The function raised StopIteration."),
        ("/object", "BadResult: The handler returned a object; it must be a str"),
        ("/set-in-json", "BadResult: The handler returned what JSON cannot hold"),
        ("/bad-status", "BadResult: The handler returned the status 99"),
        ("/long-tuple", "BadResult: The handler returned a tuple of 4"),
        ("/bad-header", "BadResult: The handler's header 'X-A' is none that HTTP allows."),
    ],
)
def test_an_error_is_a_500_without_its_traceback(
    client: httpx.Client, function: FunctionProcess, path: str, logged: str
) -> None:
    answer = client.get(path, headers={"x-request-id": f"id-of-{path}"})
    assert answer.status_code == 500
    assert answer.text == "The function raised an error; its log has the traceback.\n"
    wait_until(lambda: logged in function.log("stderr"))
    assert f"sless: GET {path!r} failed (request id-of-{path})" in function.log("stderr")
    assert client.get("/str").status_code == 200


def test_a_traceback_shows_only_the_functions_own_frames(
    client: httpx.Client, function: FunctionProcess
) -> None:
    client.get("/stop")  # an error with a cause
    wait_until(lambda: "RuntimeError: The function raised" in function.log("stderr"))
    assert str(function.code / "handler.py") in function.log("stderr")
    assert "_sless_runtime/threads.py" not in function.log("stderr")
    assert "concurrent/futures" not in function.log("stderr")


def test_http_1_0_is_answered_and_closed(function: FunctionProcess) -> None:
    with socket.create_connection(("127.0.0.1", function.port), timeout=20) as connection:
        connection.sendall(b"GET /str HTTP/1.0\r\n\r\n")
        answer = receive_all(connection)
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.endswith("grüße".encode())


def test_handlers_that_block_run_side_by_side(run: Prepare) -> None:
    handler = """
import threading
together = threading.Barrier(20, timeout=20)
def handler(request):
    together.wait()
    return "met"
"""
    function = run({"handler.py": handler})
    started = time.monotonic()
    sockets = [
        socket.create_connection(("127.0.0.1", function.port), timeout=20) for _ in range(20)
    ]
    for number, each in enumerate(sockets):
        each.sendall(b"GET / HTTP/1.0\r\n\r\n")
        if number == 0:  # the first one blocks already; health is answered beside it
            assert httpx.get(f"{function.url}/_/health").json() == {"status": "alive"}
    answers = [receive_all(each) for each in sockets]
    assert all(answer.endswith(b"met") for answer in answers)
    assert time.monotonic() - started < 20
    for each in sockets:
        each.close()
