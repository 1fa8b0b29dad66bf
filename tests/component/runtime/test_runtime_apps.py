"""ASGI and WSGI apps, and functions written for functions-framework."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import websockets.asyncio.client
import websockets.exceptions

from tests.component.runtime.conftest import Install, Prepare
from tests.component.runtime.function_process import Ended, FunctionProcess, wait_until

pytestmark = pytest.mark.real

FRAMEWORK = ("functions-framework==3.10.2", "flask==3.1.3")

ASGI = """
import asyncio
events = []
async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        events.append("up")
        scope["state"]["shared"] = "state"
        await send({"type": "lifespan.startup.complete"})
        await receive()
        print("down", flush=True)
        await send({"type": "lifespan.shutdown.complete"})
    elif scope["type"] == "websocket":
        await receive()
        wanted = scope["subprotocols"]
        await send({"type": "websocket.accept", "subprotocol": wanted[0] if wanted else None})
        while (message := await receive())["type"] != "websocket.disconnect":
            if message.get("text") == "break":
                raise RuntimeError("broken socket")
            await send({**message, "type": "websocket.send"})
    elif scope["path"] == "/silent":
        return
    elif scope["path"] == "/half":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise RuntimeError("half done")
    else:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        told = f"{events} {scope['state']['shared']}"
        await send({"type": "http.response.body", "body": told.encode()})
"""
WSGI = """
import threading
gate = threading.Event()
closed = threading.Event()
together = threading.Barrier(2, timeout=20)

class Body:
    def __init__(self, pieces): self.pieces = iter(pieces)
    def __iter__(self): return self
    def __next__(self): return next(self.pieces)
    def close(self): closed.set()

def stream():
    yield b"first"
    gate.wait(20)
    yield b""
    yield b"second"

def endless():
    while True:
        yield b"tick"

def app(environ, start_response):
    path, body = environ["PATH_INFO"], environ["wsgi.input"]
    if path == "/raise":
        raise RuntimeError("wsgi broke")
    if path == "/late":
        def late():
            start_response("201 Made", [("X-Late", "1")])
            yield b"late"
        return late()
    if path == "/replaced":
        start_response("200 OK", [("X-A", "1")])
        try: 1 / 0
        except ZeroDivisionError as error:
            start_response("503 Sorry", [("X-B", "1")], (type(error), error, error.__traceback__))
        return [b"sorry"]
    if path == "/write":
        write = start_response("200 OK", [])
        write(b"a")
        return [b"b"]
    if path == "/open":
        gate.set()
    if path == "/together":
        together.wait()
    start_response("200 OK", [("Content-Type", "text/plain")])
    if path == "/stream":
        return Body(stream())
    if path == "/endless":
        return Body(endless())
    if path == "/closed":
        return [str(closed.wait(20)).encode()]
    if path == "/lines":
        return [b"|".join([body.readline(4), body.readline(), body.read()])]
    if path == "/count":
        return [str(sum(map(len, iter(lambda: body.read(65536), b"")))).encode()]
    if path == "/empty":
        return []
    names = "REQUEST_METHOD PATH_INFO QUERY_STRING REQUEST_URI HTTP_X_ONE CONTENT_TYPE"
    return [repr([environ.get(name) for name in names.split()]).encode()]
"""


@pytest.fixture(scope="module")
def asgi(run: Prepare) -> FunctionProcess:
    return run({"main.py": ASGI})


@pytest.fixture(scope="module")
def wsgi(run: Prepare) -> FunctionProcess:
    return run({"app.py": WSGI})


def test_the_lifespan_runs_around_the_requests(prepare: Prepare) -> None:
    with prepare({"main.py": ASGI}) as function:
        assert httpx.get(function.url).text == "['up'] state"
        function.terminate()
        ended = function.wait()
    assert (ended.code, ended.stdout) == (0, "down\n")


def test_an_app_that_does_not_answer_is_a_500(asgi: FunctionProcess) -> None:
    answer = httpx.get(f"{asgi.url}/silent")
    assert (answer.status_code, answer.text) == (500, "The function ended without an answer.\n")


def test_an_app_that_breaks_in_mid_answer_is_cut(asgi: FunctionProcess) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(f"{asgi.url}/half")
    wait_until(lambda: "RuntimeError: half done" in asgi.log("stderr"))


async def test_websockets_work(asgi: FunctionProcess) -> None:
    url = f"ws://127.0.0.1:{asgi.port}/chat"
    async with websockets.asyncio.client.connect(url, subprotocols=["x.y"]) as talk:  # type: ignore[list-item]
        assert talk.subprotocol == "x.y"
        await talk.send("text ü")
        assert await talk.recv() == "text ü"
        await talk.send(b"\x00\xff" * 50_000)
        assert await talk.recv() == b"\x00\xff" * 50_000
        await talk.send("break")
        with pytest.raises(websockets.exceptions.ConnectionClosedError) as closed:
            await asyncio.wait_for(talk.recv(), 20)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1011
    wait_until(lambda: "RuntimeError: broken socket" in asgi.log("stderr"))


@pytest.mark.parametrize("path", ["/", "/_/health"])
async def test_a_websocket_to_what_has_none_is_refused(wsgi: FunctionProcess, path: str) -> None:
    with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
        await websockets.asyncio.client.connect(f"ws://127.0.0.1:{wsgi.port}{path}")
    assert refused.value.response.status_code == 403


def test_wsgi_is_told_what_was_asked(wsgi: FunctionProcess) -> None:
    headers = {"x-one": "1", "x_one": "forged", "content-type": "a/b"}
    answer = httpx.put(f"{wsgi.url}/%C3%BC/b%2Fc?q=%20", headers=headers)
    told = ["PUT", "/Ã¼/b/c", "q=%20", "/%C3%BC/b%2Fc?q=%20", "1", "a/b"]
    assert answer.text == repr(told)


@pytest.mark.parametrize(
    ("path", "status", "header", "body"),
    [
        ("/late", 201, "x-late", b"late"),
        ("/replaced", 503, "x-b", b"sorry"),
        ("/write", 200, "date", b"ab"),
        ("/empty", 200, "content-type", b""),
        ("/raise", 500, "date", b"The function raised an error; its log has the traceback.\n"),
    ],
)
def test_wsgi_answers_in_every_way_that_it_may(
    wsgi: FunctionProcess, path: str, status: int, header: str, body: bytes
) -> None:
    answer = httpx.get(f"{wsgi.url}{path}")
    assert (answer.status_code, answer.content) == (status, body)
    assert header in answer.headers


def test_wsgi_reads_its_body_as_a_file(wsgi: FunctionProcess) -> None:
    pieces = iter([b"line", b" one\nli", b"ne two\n", b"rest"])
    answer = httpx.post(f"{wsgi.url}/lines", content=pieces)
    assert answer.content == b"line| one\n|line two\nrest"


def test_wsgi_reads_a_large_body(wsgi: FunctionProcess) -> None:
    body = (b"x" * 2**20 for _ in range(50))
    assert httpx.post(f"{wsgi.url}/count", content=body, timeout=60).text == str(50 * 2**20)


def test_wsgi_streams(wsgi: FunctionProcess) -> None:
    with httpx.stream("GET", f"{wsgi.url}/stream", timeout=20) as answer:
        pieces = answer.iter_raw()
        assert next(pieces) == b"first"
        httpx.get(f"{wsgi.url}/open")
        assert list(pieces) == [b"second"]


def test_wsgi_is_closed_when_its_caller_leaves(run: Prepare) -> None:
    wsgi = run({"app.py": WSGI})
    with httpx.stream("GET", f"{wsgi.url}/endless", timeout=20) as answer:
        assert next(answer.iter_raw())
    assert httpx.get(f"{wsgi.url}/closed", timeout=20).text == "True"


async def test_wsgi_calls_run_side_by_side(wsgi: FunctionProcess) -> None:
    async with httpx.AsyncClient(base_url=wsgi.url, timeout=20) as client:
        answers = await asyncio.gather(client.get("/together"), client.get("/together"))
    assert [answer.status_code for answer in answers] == [200, 200]


@pytest.fixture(scope="module")
def framework_site(install: Install) -> Path:
    return install(*FRAMEWORK)


MARKED = """
import flask, functions_framework
@functions_framework.http
def hello(request):
    name = request.get_json(silent=True) or request.args.get("name", "world")
    if name == "response":
        return flask.Response("made", 201, {"X-Made": "1"})
    return {"message": f"Hello {name}"}, 202
"""


def test_a_function_for_functions_framework_runs_unchanged(
    prepare: Prepare, framework_site: Path
) -> None:
    with prepare({"main.py": MARKED}, site=framework_site) as function:
        answer = httpx.get(f"{function.url}/any/path?name=you")
        assert (answer.status_code, answer.json()) == (202, {"message": "Hello you"})
        answer = httpx.post(function.url, json="response")
        assert (answer.status_code, answer.text) == (201, "made")
        assert answer.headers["x-made"] == "1"
        assert httpx.get(f"{function.url}/_/ready").status_code == 200


ASYNC_MARKED = """
from functions_framework import aio
@aio.http
async def go(request): return request.query_params["a"]
"""
UNMARKED = """
import functions_framework
def app(environ, start_response):
    start_response("200 OK", [])
    return [b"own"]
"""


@pytest.mark.parametrize(
    ("source", "environ", "answer"),
    [
        ("def plain(request): return request.args['a']", {"SLESS_HANDLER": "main:plain"}, "1"),
        (
            f"{MARKED}\n@functions_framework.http\ndef other(request): return 'o'",
            {"FUNCTION_TARGET": "other"},
            "o",
        ),
        (
            ASYNC_MARKED,
            {},
            "1",
        ),
        (
            UNMARKED,
            {},
            "own",
        ),
    ],
)
def test_the_framework_gets_the_function_that_is_meant(
    prepare: Prepare, framework_site: Path, source: str, environ: dict[str, str], answer: str
) -> None:
    with prepare({"main.py": source}, site=framework_site, environ=environ) as function:
        assert httpx.get(f"{function.url}/?a=1").text == answer


def test_a_cloud_event_reaches_its_function(prepare: Prepare, framework_site: Path) -> None:
    source = """
import functions_framework
@functions_framework.cloud_event
def event(event): print(event["type"], event.data, flush=True)
"""
    headers = {"ce-id": "1", "ce-source": "/s", "ce-type": "made", "ce-specversion": "1.0"}
    with prepare({"main.py": source}, site=framework_site) as function:
        assert httpx.post(function.url, json={"a": 1}, headers=headers).status_code == 200
        assert function.log("stdout") == "made {'a': 1}\n"


@pytest.mark.parametrize(
    ("source", "reason", "message"),
    [
        (
            f"{MARKED}\n@functions_framework.http\ndef other(request): ...",
            "HandlerNotFound",
            (
                "main.py marks several functions: hello, other. Name one with --handler "
                "module:attribute, for example --handler main:hello."
            ),
        ),
        (
            f"{MARKED}\nimport gone",
            "HandlerImportFailed",
            "ModuleNotFoundError: No module named 'gone'. Add gone to requirements.txt.",
        ),
    ],
)
def test_a_framework_function_that_does_not_start_says_why(
    fail: Callable[..., Ended], framework_site: Path, source: str, reason: str, message: str
) -> None:
    ended = fail({"main.py": source}, site=framework_site)
    assert (ended.reason, ended.message) == (reason, message)
