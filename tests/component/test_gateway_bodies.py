"""Bodies: byte for byte, streamed both ways, without a limit on the whole."""

import asyncio
import gzip
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from tests.component.gateway_rig import (
    DEADLINE,
    OK,
    RunningGateway,
    Upstream,
    answering,
    call,
    function,
    request,
    running_gateway,
)

pytestmark = pytest.mark.real
IDLE = 1.0
MIB = 1 << 20


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    with running_gateway(tmp_path_factory.mktemp("gateway"), stream_idle=IDLE) as running:
        yield running


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "identity", "none-such"])
async def test_f2_encoded_bodies_are_left_alone(gateway: RunningGateway, encoding: str) -> None:
    body = gzip.compress(b"hello" * 100)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {len(body)}\r\n\r\n"
    async with function(gateway, answering(head.encode() + body)) as served:
        answer = await call(gateway.port, request("/fn/a/b/", f"Accept-Encoding: {encoding}"))
    assert (answer.body, answer.headers["Content-Encoding"]) == (body, encoding)
    assert answer.headers["Content-Length"] == str(len(body))
    assert served.headers()["accept-encoding"] == encoding


async def test_f2_head_keeps_the_length(gateway: RunningGateway) -> None:
    raw = b"HTTP/1.1 200 OK\r\nContent-Length: 12345\r\nETag: x\r\n\r\n"
    async with function(gateway, answering(raw)):
        answer = await call(gateway.port, request("/fn/a/b/", method="HEAD"))
    assert (answer.headers["Content-Length"], answer.body, answer.whole) == ("12345", b"", True)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("location", ["/x", "http://127.0.0.1:9/y?z", "../up"])
async def test_f3_redirects_are_the_callers(
    gateway: RunningGateway, status: int, location: str
) -> None:
    raw = f"HTTP/1.1 {status} Go\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
    async with function(gateway, answering(raw.encode())) as served:
        answer = await call(gateway.port, request("/fn/a/b/"))
    assert (answer.status, answer.headers["Location"]) == (status, location)
    assert len(served.heads) == 1


async def test_f4_each_chunk_arrives_when_it_is_sent(gateway: RunningGateway) -> None:
    accepts = ["text/event-stream", "*/*", "application/json"]
    heard = {accept: asyncio.Event() for accept in accepts}

    async def stream(
        _reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes
    ) -> None:
        got = next(heard[accept] for accept in accepts if f"Accept: {accept}".encode() in head)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        for number in range(6):  # three times the idle timeout in all
            await asyncio.sleep(IDLE / 2)
            got.clear()
            writer.write(b"data: %d\n\n" % number)
            # The next one is sent only when the caller has got this one.
            await asyncio.wait_for(got.wait(), IDLE)
        writer.close()

    async def listen(accept: str) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        writer.write(request("/fn/a/b/", f"Accept: {accept}"))
        for number in range(6):
            await reader.readuntil(b"data: %d\n\n" % number)
            heard[accept].set()
        rest = await reader.readuntil(b"0\r\n\r\n")
        writer.close()
        return rest

    started = monotonic()
    async with function(gateway, stream), asyncio.timeout(DEADLINE):
        ends = await asyncio.gather(*(listen(accept) for accept in accepts))
    assert ends == [b"\r\n0\r\n\r\n"] * len(accepts)
    assert monotonic() - started > 2 * IDLE


async def test_f4_an_upload_is_streamed_too(gateway: RunningGateway) -> None:
    async def echo(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _head: bytes
    ) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while (chunk := await reader.readuntil(b"\r\n") + await reader.readuntil(b"\r\n")) != (
            b"0\r\n\r\n"
        ):
            writer.write(chunk)
        writer.write(chunk)

    async with function(gateway, echo), asyncio.timeout(DEADLINE):
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        writer.write(request("/fn/a/b/", "Transfer-Encoding: chunked", method="POST"))
        await reader.readuntil(b"\r\n\r\n")  # the answer has begun before the question's end
        for _ in range(5):
            await asyncio.sleep(IDLE / 2)
            writer.write(b"4\r\nping\r\n")
            assert await reader.readexactly(9) == b"4\r\nping\r\n"
        writer.write(b"0\r\n\r\n")
        assert await reader.readexactly(5) == b"0\r\n\r\n"
        writer.close()


async def echo_socket(connection: ServerConnection) -> None:
    async for message in connection:
        await connection.send(message)
        if message == "bye":
            await connection.close(4002, "bye")


async def test_f5_websocket(gateway: RunningGateway) -> None:
    async with serve(echo_socket, "127.0.0.1", 0, subprotocols=[Subprotocol("chat")]) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        await gateway.route(Upstream(port).route())
        address = f"ws://127.0.0.1:{gateway.port}/fn/a/b/ws?x=1"
        async with connect(address, subprotocols=[Subprotocol("chat")], proxy=None) as caller:
            assert caller.subprotocol == "chat"
            assert caller.response is not None
            assert "x-request-id" in caller.response.headers
            for message in ("text é", b"\x00\xff" * 1000, "", "bye"):
                await caller.send(message)
                assert await caller.recv() == message
            with pytest.raises(ConnectionClosed) as closed:
                await caller.recv()
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4002, "bye")


async def test_f5_other_upgrades_are_refused(gateway: RunningGateway) -> None:
    async with function(gateway, answering(OK)) as served:
        raw = request("/fn/a/b/", "Connection: upgrade", "Upgrade: telnet")
        answer = await call(gateway.port, raw)
        offer = request("/fn/a/b/", "Connection: upgrade", "Upgrade: TLS/1.2")
        assert (await call(gateway.port, offer)).status == 200
    assert (answer.status, answer.problem()["reason"]) == (403, "UpgradeRefused")
    assert len(served.heads) == 1


def peak_memory(pid: int) -> int:
    """Most bytes ever resident."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


async def test_f7_a_large_upload_takes_constant_memory(gateway: RunningGateway) -> None:
    size = 300 * MIB
    sent = 0
    stalled = asyncio.Event()
    received = asyncio.get_running_loop().create_future()

    async def count(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _head: bytes
    ) -> None:
        await stalled.wait()
        total = 0
        while total < size:
            total += len(await reader.read(MIB))
        received.set_result(total)
        writer.write(OK)

    async with function(gateway, count), asyncio.timeout(120):
        before = peak_memory(gateway.envoy_pid())
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        head = request("/fn/a/b/", f"Content-Length: {size}", "Expect: 100-continue", method="PUT")
        writer.write(head)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
        chunk = bytes(MIB)
        while sent < size:
            writer.write(chunk)
            sent += MIB
            try:
                await asyncio.wait_for(writer.drain(), IDLE / 4 if not stalled.is_set() else None)
            except TimeoutError:
                held = sent  # by Envoy and the kernel's sockets, while the function reads nothing
                stalled.set()
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 ")
        writer.close()
    assert await received == size
    assert held < 32 * MIB
    assert peak_memory(gateway.envoy_pid()) - before < 16 * MIB
