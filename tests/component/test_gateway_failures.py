"""F9: who failed, with which reason and request id; and nothing is sent twice."""

import asyncio
from collections.abc import Iterator
from time import monotonic

import pytest

from sless.gateway.route import Endpoint, Route
from tests.component.gateway_rig import (
    DEADLINE,
    OK,
    Answer,
    RunningGateway,
    answering,
    call,
    function,
    read_body,
    request,
    running_gateway,
)
from tests.fixtures.ports import free_port
from tests.fixtures.waiting import until

pytestmark = pytest.mark.real
IDLE = 1.0
POST = request("/fn/a/b/", method="POST", body=b"pay once")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    folder = tmp_path_factory.mktemp("gateway")
    with running_gateway(folder, stream_idle=IDLE) as running:
        yield running


def told(answer: Answer) -> tuple[int, str, str]:
    problem = answer.problem()
    return answer.status, problem["layer"], problem["reason"]


async def test_no_endpoint(gateway: RunningGateway) -> None:
    await gateway.route(Route("a", "b", "u", 1))
    answer = await call(gateway.port, POST)
    assert told(answer) == (503, "function", "NoRunningRevision")


async def test_nobody_listens(gateway: RunningGateway) -> None:
    await gateway.route(Route("a", "b", "u", 1, (Endpoint("127.0.0.1", free_port()),)))
    answer = await call(gateway.port, POST)
    assert told(answer) == (503, "function", "FunctionUnreachable")


async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes) -> None:
    await read_body(reader, head)
    writer.close()


@pytest.mark.parametrize("raw", [POST, request("/fn/a/b/")])
async def test_a_crash_before_the_answer_is_not_sent_again(
    gateway: RunningGateway, raw: bytes
) -> None:
    async with function(gateway, hang_up) as served:
        answer = await call(gateway.port, raw)
    assert told(answer) == (503, "function", "FunctionBroke")
    assert len(served.heads) == 1


async def test_a_connection_reset_with_the_request_is_not_sent_again(
    gateway: RunningGateway,
) -> None:
    async def reset(
        _reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _head: bytes
    ) -> None:
        writer.transport.abort()

    async with function(gateway, reset) as served:
        answer = await call(gateway.port, POST)
    assert told(answer)[0] == 503
    assert len(served.heads) == 1


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n",
    ],
)
async def test_a_crash_in_mid_answer_is_cut(gateway: RunningGateway, head: bytes) -> None:
    async def crash(
        _reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _head: bytes
    ) -> None:
        writer.write(head + b"abc")
        await writer.drain()
        writer.close()

    async with function(gateway, crash):
        answer = await call(gateway.port, request("/fn/a/b/"))
    assert (answer.status, answer.whole) == (200, False)
    assert answer.headers["x-request-id"]


async def test_silence_before_the_answer(gateway: RunningGateway) -> None:
    async def hang(
        _reader: asyncio.StreamReader, _writer: asyncio.StreamWriter, _head: bytes
    ) -> None:
        await asyncio.sleep(DEADLINE)

    started = monotonic()
    async with function(gateway, hang) as served:
        answer = await call(gateway.port, POST)
        assert monotonic() - started < DEADLINE / 2
    assert told(answer) == (504, "function", "FunctionTimedOut")
    assert len(served.heads) == 1


async def test_silence_in_mid_answer_is_cut(gateway: RunningGateway) -> None:
    async def stall(
        _reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _head: bytes
    ) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
        await asyncio.sleep(DEADLINE)

    async with function(gateway, stall):
        answer = await call(gateway.port, request("/fn/a/b/"))
    assert (answer.body, answer.whole) == (b"abc", False)


async def test_what_is_no_http(gateway: RunningGateway) -> None:
    async with function(gateway, answering(b"SSH-2.0-OpenSSH\r\n\r\n")):
        answer = await call(gateway.port, request("/fn/a/b/"))
    assert told(answer) == (502, "function", "InvalidResponse")


async def test_a_caller_who_does_not_finish(gateway: RunningGateway) -> None:
    async with function(gateway, answering(OK)):
        answer = await call(gateway.port, request("/fn/a/b/", "Content-Length: 9", method="PUT"))
    assert told(answer) == (408, "caller", "RequestTimedOut")


@pytest.mark.parametrize("status", [404, 500, 502, 503, 504])
async def test_the_functions_own_errors_are_its_own(gateway: RunningGateway, status: int) -> None:
    raw = f"HTTP/1.1 {status} Mine\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nmine"
    async with function(gateway, answering(raw.encode())) as served:
        answer = await call(gateway.port, request("/fn/a/b/"))
    assert (answer.status, answer.body) == (status, b"mine")
    assert answer.headers["Content-Type"] == "text/plain"
    assert len(served.heads) == 1


async def test_another_endpoint_is_tried_where_nothing_was_sent(gateway: RunningGateway) -> None:
    async with function(gateway, answering(OK)) as served:
        endpoints = (Endpoint("127.0.0.1", free_port()), *served.route().endpoints)
        await gateway.route(Route("a", "b", "uid", 2, endpoints))
        answers = [await call(gateway.port, POST) for _ in range(20)]
    assert [answer.status for answer in answers] == [200] * 20
    assert len(served.heads) == 20


async def test_the_gateway_leaves_idle_connections_before_the_function_does(
    gateway: RunningGateway,
) -> None:
    left = asyncio.Event()

    async def watch(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _head: bytes
    ) -> None:
        writer.write(OK)
        assert await reader.read() == b""
        left.set()

    async with function(gateway, watch):
        await call(gateway.port, request("/fn/a/b/"))
        await asyncio.wait_for(left.wait(), 1.9)  # gunicorn closes after 2 s


async def test_the_access_log_names_the_function_and_the_request(gateway: RunningGateway) -> None:
    async with function(gateway, hang_up) as served:
        await gateway.route(served.route(generation=7))
        answer = await call(gateway.port, request("/fn/a/b/x?token=secret"))
        broken = await call(gateway.port, b"NO HTTP AT ALL\r\n\r\n")
    await until(lambda: len(find_lines(gateway, answer, broken)) == 2)
    line, nameless = find_lines(gateway, answer, broken)
    assert (line["namespace"], line["function"], line["generation"]) == ("a", "b", "7")
    assert (line["status"], line["flags"], line["path"]) == (503, "UC", "/x")
    assert isinstance(line["duration_ms"], int)
    assert nameless["status"] == 400


async def test_a_generation_that_is_not_known_is_empty_in_the_log(gateway: RunningGateway) -> None:
    await gateway.route(Route("a", "b", "u", None))
    answer = await call(gateway.port, request("/fn/a/b/"))
    (line,) = await until(lambda: find_lines(gateway, answer))
    assert (line["function"], line["generation"]) == ("b", None)


def find_lines(gateway: RunningGateway, *answers: Answer) -> list[dict[str, object]]:
    ids = [answer.headers["x-request-id"] for answer in answers]
    return [line for line in gateway.access_log() if line["request_id"] in ids]
