"""What a handler is given, and large, slow or broken requests."""

import hashlib
import socket
from collections.abc import Iterator
from itertools import repeat

import httpx
import pytest

from tests.component.runtime.conftest import Prepare
from tests.component.runtime.function_process import (
    FunctionProcess,
    receive_all,
    wait_until,
)

pytestmark = pytest.mark.real

SYNC = """
import functools, hashlib

def peak():
    with open("/proc/self/status") as status:
        return int(status.read().split("VmHWM:")[1].split()[0])

def handler(request):
    if request.path == "/json":
        return {"got": request.json()}
    if request.path == "/twice":
        return [len(request.body()), len(request.body()), sum(map(len, request.stream()))]
    if request.path == "/upload":
        digest, count = hashlib.sha256(), 0
        for piece in request.stream():
            digest.update(piece)
            count += len(piece)
        return {"sha256": digest.hexdigest(), "count": count,
                "peak": peak()}
    if request.path == "/text":
        return request.text()
    return {
        "method": request.method, "path": request.path, "query": dict(request.query),
        "all": request.query.get_all("a"), "header": request.headers["X-One"],
        "headers": request.headers.get_all("x-one"), "cookie": request.headers.get("cookie"),
        "absent": "x-none" in request.headers, "raw": request.query_string,
    }
"""
ASYNC = (
    SYNC.replace("def handler", "async def handler")
    .replace("request.json()", "await request.json()")
    .replace("request.body()", "await request.body()")
    .replace("sum(map(len, request.stream()))", "sum([len(p) async for p in request.stream()])")
    .replace("for piece in", "async for piece in")
    .replace("request.text()", "await request.text()")
)
WRAPPED = (
    ASYNC
    + """
inner = handler
@functools.wraps(inner)
def handler(request):
    return inner(request)
"""
)


@pytest.fixture(scope="module", params=[SYNC, ASYNC, WRAPPED], ids=["sync", "async", "wrapped"])
def function(run: Prepare, request: pytest.FixtureRequest) -> FunctionProcess:
    return run({"handler.py": request.param})


@pytest.fixture
def client(function: FunctionProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=function.url, timeout=60) as client:
        yield client


def test_the_request_tells_what_was_asked(client: httpx.Client) -> None:
    answer = client.request(
        "PURGE",
        "/ä/b?a=1&a=%C3%BC&empty=",
        headers=[("x-one", "1"), ("X-ONE", "2"), ("cookie", "a=1"), ("cookie", "b=2")],
    )
    assert answer.json() == {
        "method": "PURGE",
        "path": "/ä/b",
        "query": {"a": "ü", "empty": ""},
        "all": ["1", "ü"],
        "header": "1, 2",
        "headers": ["1", "2"],
        "cookie": "a=1; b=2",
        "absent": False,
        "raw": "a=1&a=%C3%BC&empty=",
    }


def test_json_is_read(client: httpx.Client) -> None:
    assert client.post("/json", json={"ü": [1]}).json() == {"got": {"ü": [1]}}


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("/json", b"{not", "The body is no JSON: "),
        ("/json", b"", "The body is no JSON: "),
        ("/text", b"\xff", "The body is no UTF-8 text: "),
    ],
)
def test_a_body_that_is_something_else_is_the_callers_fault(
    client: httpx.Client, path: str, body: bytes, says: str
) -> None:
    answer = client.post(path, content=body)
    assert answer.status_code == 400
    assert answer.text.startswith(says)


def test_a_body_can_be_read_again(client: httpx.Client) -> None:
    assert client.post("/twice", content=b"12345").json() == [5, 5, 5]


def test_a_large_upload_is_streamed(client: httpx.Client) -> None:
    piece = b"x" * 2**20
    answer = client.post("/upload", content=repeat(piece, 100)).json()
    assert answer["count"] == 100 * 2**20
    assert answer["sha256"] == hashlib.sha256(piece * 100).hexdigest()
    assert answer["peak"] < 60 * 1024  # KiB, of which the interpreter and the server need about 30


def test_a_caller_that_leaves_in_mid_upload_is_no_error(function: FunctionProcess) -> None:
    with socket.create_connection(("127.0.0.1", function.port)) as connection:
        connection.sendall(b"POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
    with httpx.Client(base_url=function.url) as client:
        assert client.post("/json", json=1).json() == {"got": 1}
    assert "Traceback" not in function.log("stderr")


def test_expect_100_continue_is_answered_when_the_body_is_wanted(
    function: FunctionProcess,
) -> None:
    head = (
        b"POST /json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        b"Content-Length: 1\r\nExpect: 100-continue\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", function.port), timeout=20) as connection:
        connection.sendall(head)
        assert connection.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"7")
        assert receive_all(connection).endswith(b'{"got":7}')


def test_a_trailer_is_no_header(function: FunctionProcess) -> None:
    chunked = (
        b"POST / HTTP/1.1\r\nHost: x\r\nX-One: real\r\nConnection: close\r\n"
        b"Transfer-Encoding: chunked\r\nTrailer: X-One\r\n\r\n1\r\na\r\n0\r\nX-One: forged\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", function.port), timeout=20) as connection:
        connection.sendall(chunked)
        assert b'"headers":["real"]' in receive_all(connection)


@pytest.mark.parametrize(
    ("method", "path", "status", "body"),
    [
        ("GET", "/_/health", 200, b'{"status":"alive"}\n'),
        ("GET", "/_/ready", 200, b'{"status":"ready"}\n'),
        ("HEAD", "/_/ready", 200, b""),
        ("GET", "/_/else", 404, b'{"status":"unknown"}\n'),
        ("GET", "/_", 404, b'{"status":"unknown"}\n'),
        ("GET", "/%5F/health", 200, b'{"status":"alive"}\n'),
    ],
)
def test_what_is_below_the_runtimes_path_is_its_own(
    client: httpx.Client, method: str, path: str, status: int, body: bytes
) -> None:
    answer = client.request(method, path)
    assert (answer.status_code, answer.content) == (status, body)


def test_a_name_that_only_begins_alike_is_the_functions(client: httpx.Client) -> None:
    assert client.get("/_x", headers={"x-one": "1"}).json()["path"] == "/_x"


def test_an_async_handler_that_forgot_to_await_is_told(run: Prepare) -> None:
    handler = """
async def handler(request):
    return [piece for piece in request.stream()]
"""
    function = run({"handler.py": handler})
    assert httpx.post(function.url, content=b"x").status_code == 500
    wait_until(lambda: "reads a stream with `async for`" in function.log("stderr"))
