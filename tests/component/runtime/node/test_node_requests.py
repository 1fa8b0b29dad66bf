"""A fetch-style function: what it is given, what it may return, and what its errors do."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.component.runtime.conftest import Prepare
from tests.component.runtime.function_process import FunctionProcess, wait_until

pytestmark = pytest.mark.real

HANDLER = """
import { appendFileSync, existsSync } from "node:fs";
import { Readable } from "node:stream";

const note = (word) => appendFileSync(process.env.NOTES, word + "\\n");
const passed = async (name) => {
  while (!existsSync(name)) await new Promise((settle) => setTimeout(settle, 10));
};

const routes = {
  "/about": (request) => ({
    url: request.url,
    method: request.method,
    headers: [...request.headers],
    body: request.body === null,
  }),
  "/json": async (request) => ({ got: await request.json() }),
  "/echo": (request) => new Response(request.body, { status: 201 }),
  "/count": async (request) => {
    let bytes = 0;
    for await (const piece of request.body) bytes += piece.length;
    return { bytes, peak: Math.round(process.resourceUsage().maxRSS / 1024) };
  },
  "/text": () => "text",
  "/buffer": () => Buffer.from("bytes"),
  "/typed": () => new Uint8Array([104, 105]).buffer,
  "/list": () => [1, { a: 2 }],
  "/nothing": () => undefined,
  "/response": () => new Response("made", { status: 418, headers: { "x-a": "1" } }),
  "/async": async () => Response.json({ later: true }),
  "/cookies": () => {
    const headers = new Headers();
    headers.append("set-cookie", "a=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT");
    headers.append("set-cookie", "b=2");
    return new Response(null, { status: 302, headers });
  },
  "/blob": () => new Blob(["blob"], { type: "text/css" }),
  "/generator": function* () { yield "a"; yield "b"; },
  "/readable": () => Readable.from(["x", "y"]),
  "/empty": () => Readable.from([]),
  "/number": () => 5,
  "/function": () => () => 1,
  "/piece": async function* () { yield 5; },
  "/throw": () => { throw new Error("no such colour"); },
  "/late": async function* () {
    yield "first";
    await passed("go-late");
    throw new Error("after the first piece");
  },
  "/slowly": async function* () {
    yield "first";
    await passed("go");
    yield "last";
  },
  "/left": async function* (request) {
    request.signal.addEventListener("abort", () => note("aborted"));
    try {
      for (;;) { yield "piece"; await new Promise((settle) => setTimeout(settle, 5)); }
    } finally { note("closed"); }
  },
  "/left-waiting": (request) => new Promise((_, fail) => {
    note("waiting");
    request.signal.addEventListener("abort", () => { note("left"); fail(request.signal.reason); });
  }),
  "/rejection": () => {
    Promise.reject(new Error("left alone"));
    return new Promise(() => {});
  },
  "/timer": () => {
    setTimeout(() => { throw new Error("in a timer"); }, 1);
    return new Promise(() => {});
  },
};
export default (request) => routes[new URL(request.url).pathname](request);
"""
FAILED = "The function raised an error; its log has the stack.\n"


@pytest.fixture(scope="module")
def function(run: Prepare, tmp_path_factory: pytest.TempPathFactory) -> FunctionProcess:
    notes = tmp_path_factory.mktemp("notes") / "notes"
    notes.touch()
    return run({"handler.mjs": HANDLER}, environ={"NOTES": str(notes)})


def noted(function: FunctionProcess) -> list[str]:
    return Path(function.environ["NOTES"]).read_text().split()


def test_the_request_is_the_webs(function: FunctionProcess) -> None:
    headers = [("X-Two", "1"), ("X-Two", "2"), ("Host", "shop.example")]
    told = httpx.get(f"{function.url}/about?q=%20a&q=b", headers=headers).json()
    assert told["url"] == "http://shop.example/about?q=%20a&q=b"
    assert (told["method"], told["body"]) == ("GET", True)
    assert ["x-two", "1, 2"] in told["headers"]


def test_the_scheme_is_the_gateways(function: FunctionProcess) -> None:
    told = httpx.get(f"{function.url}/about", headers={"x-forwarded-proto": "https"}).json()
    assert told["url"].startswith("https://")


def test_a_body_is_read(function: FunctionProcess) -> None:
    assert httpx.post(f"{function.url}/json", json=[1]).json() == {"got": [1]}
    answer = httpx.post(f"{function.url}/echo", content=b"\0\xff" * 1000)
    assert (answer.status_code, answer.content) == (201, b"\0\xff" * 1000)


def test_a_large_body_is_never_all_in_memory(function: FunctionProcess) -> None:
    # 2 GiB: Node collects buffers late, on a busy machine by hundreds of MiB; at leisure the peak
    # is 100 MiB, of which Node itself needs about 60.
    pieces = (b"x" * 65536 for _ in range(32768))
    answer = httpx.post(f"{function.url}/count", content=pieces, timeout=120).json()
    assert answer["bytes"] == 32768 * 65536
    assert answer["peak"] < 1024, "MiB"


@pytest.mark.parametrize(
    ("path", "status", "kind", "body"),
    [
        ("text", 200, "text/plain; charset=utf-8", b"text"),
        ("buffer", 200, "application/octet-stream", b"bytes"),
        ("typed", 200, "application/octet-stream", b"hi"),
        ("list", 200, "application/json", b'[1,{"a":2}]'),
        ("nothing", 204, None, b""),
        ("response", 418, "text/plain;charset=UTF-8", b"made"),
        ("async", 200, "application/json", b'{"later":true}'),
        ("blob", 200, "text/css", b"blob"),
        ("generator", 200, "text/plain; charset=utf-8", b"ab"),
        ("readable", 200, "text/plain; charset=utf-8", b"xy"),
        ("empty", 200, None, b""),
    ],
)
def test_what_is_returned_is_answered(
    function: FunctionProcess, path: str, status: int, kind: str | None, body: bytes
) -> None:
    answer = httpx.get(f"{function.url}/{path}")
    assert (answer.status_code, answer.content) == (status, body)
    assert answer.headers.get("content-type") == kind
    head = httpx.head(f"{function.url}/{path}")
    assert (head.status_code, head.content) == (status, b"")
    assert head.headers.get("content-type") == kind


def test_a_short_answer_has_its_length(function: FunctionProcess) -> None:
    assert httpx.get(f"{function.url}/response").headers["content-length"] == "4"
    assert httpx.get(f"{function.url}/response").headers["x-a"] == "1"


def test_each_cookie_keeps_its_line(function: FunctionProcess) -> None:
    cookies = httpx.get(f"{function.url}/cookies").headers.get_list("set-cookie")
    assert cookies == ["a=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT", "b=2"]


@pytest.mark.parametrize(
    ("path", "logged"),
    [
        ("number", "The handler returned a number; it must be a Response, a string, bytes,"),
        ("function", "The handler returned a function;"),
        ("piece", "The handler streamed a number; pieces are strings or bytes."),
        ("throw", "Error: no such colour"),
        ("rejection", "Error: left alone"),
        ("timer", "Error: in a timer"),
    ],
)
def test_an_error_is_a_500_and_the_process_goes_on(
    function: FunctionProcess, path: str, logged: str
) -> None:
    answer = httpx.get(f"{function.url}/{path}", headers={"x-request-id": f"id-{path}"})
    assert (answer.status_code, answer.text) == (500, FAILED)
    log = function.log("stderr")
    assert f"sless: GET '/{path}' failed (request id-{path})\n" in log
    assert logged in log
    assert "_sless_runtime" not in log
    assert httpx.get(f"{function.url}/text").text == "text"


def test_pieces_are_sent_when_they_are_made(function: FunctionProcess) -> None:
    with httpx.stream("GET", f"{function.url}/slowly") as answer:
        pieces = answer.iter_text()
        assert next(pieces) == "first"
        (function.code / "go").touch()
        assert "".join(pieces) == "last"


def test_an_error_after_the_first_piece_cuts_the_answer(function: FunctionProcess) -> None:
    with httpx.stream("GET", f"{function.url}/late") as answer:
        pieces = answer.iter_text()
        assert next(pieces) == "first"
        (function.code / "go-late").touch()
        with pytest.raises(httpx.RemoteProtocolError):
            list(pieces)


def test_a_caller_who_leaves_ends_the_stream(function: FunctionProcess) -> None:
    with httpx.stream("GET", f"{function.url}/left") as answer:
        next(answer.iter_text())
    wait_until(lambda: {"aborted", "closed"} <= set(noted(function)))


def test_a_caller_who_leaves_aborts_the_request(function: FunctionProcess) -> None:
    with socket.create_connection(("127.0.0.1", function.port)) as caller:
        caller.sendall(b"GET /left-waiting HTTP/1.1\r\nHost: a\r\n\r\n")
        wait_until(lambda: "waiting" in noted(function))
    wait_until(lambda: "left" in noted(function))
    assert "left-waiting" not in function.log("stderr"), "nobody's error"


def test_bodies_go_both_ways_at_once(function: FunctionProcess) -> None:
    with socket.create_connection(("127.0.0.1", function.port), 20) as caller:
        head = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        caller.sendall(f"{head}3\r\none\r\n".encode())
        received = b""
        while b"one" not in received:
            received += caller.recv(4096)
        caller.sendall(b"3\r\ntwo\r\n0\r\n\r\n")
        while b"two" not in received:
            received += caller.recv(4096)


@pytest.mark.parametrize(
    ("request_line", "status"), [("TRACE / HTTP/1.1", 405), ("GET / HTTP/1.1\r\nHost: [", 400)]
)
def test_what_no_request_can_be_is_refused(
    function: FunctionProcess, request_line: str, status: int
) -> None:
    with socket.create_connection(("127.0.0.1", function.port), 20) as caller:
        host = "" if "Host" in request_line else "Host: a\r\n"
        caller.sendall(f"{request_line}\r\n{host}Connection: close\r\n\r\n".encode())
        assert caller.recv(4096).startswith(f"HTTP/1.1 {status} ".encode())


def test_the_runtimes_own_paths_are_not_the_functions(function: FunctionProcess) -> None:
    assert httpx.get(f"{function.url}/_/health").json() == {"status": "alive"}
    assert httpx.get(f"{function.url}/_/ready?x").json() == {"status": "ready"}
    assert httpx.get(f"{function.url}/_/other").status_code == httpx.codes.NOT_FOUND


def test_errors_find_their_own_request(function: FunctionProcess) -> None:
    paths = ["rejection", "text", "timer", "text"] * 5
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda path: httpx.get(f"{function.url}/{path}"), paths))
    assert [answer.status_code for answer in answers] == [500, 200, 500, 200] * 5


def test_an_error_outside_of_requests_ends_the_process(prepare: Prepare) -> None:
    handler = """
    import { existsSync } from "node:fs";
    setInterval(() => { if (existsSync("go")) throw new Error("alone"); }, 10);
    export default () => "x";
    """
    with prepare({"handler.mjs": handler}) as function:
        (function.code / "go").touch()
        ended = function.wait()
    assert (ended.code, ended.reason) == (1, "FunctionCrashed")
    assert ended.message == "Outside of any request: Error: alone"
    assert json.dumps(ended.message).strip('"') in ended.stderr
