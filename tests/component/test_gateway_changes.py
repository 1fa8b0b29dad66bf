"""Routes change under load, are refused, drain, and survive crashes."""

import asyncio
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep

import pytest

from sless.errors import InternalError
from sless.gateway.command import envoy_command
from sless.gateway.files import GatewayFiles
from sless.gateway.route import Endpoint, Route
from tests.component.gateway_rig import (
    DEADLINE,
    OK,
    Answer,
    RunningGateway,
    answering,
    call,
    function,
    read_answer,
    request,
    running_gateway,
    upstream,
)
from tests.fixtures.waiting import until

pytestmark = pytest.mark.real
RATE = 200
"""Requests a second."""
SETTLE_SECONDS = 0.5
"""Between a route's move and the old endpoint's end; the runner gives a whole second."""


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[RunningGateway]:
    with running_gateway(tmp_path, drain_timeout=2) as running:
        yield running


@pytest.fixture
def leaving(tmp_path: Path) -> Iterator[RunningGateway]:
    """As on Kubernetes, where callers still come for a while."""
    with running_gateway(tmp_path, leave=1, drain_timeout=2) as running:
        yield running


async def slow(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _head: bytes) -> None:
    await asyncio.sleep(0.03)
    writer.write(OK)


async def test_endpoints_move_under_load_without_a_failed_request(gateway: RunningGateway) -> None:
    calls: list[asyncio.Task[Answer]] = []
    counts = []

    async def load() -> None:
        while True:
            raw = request("/fn/a/b/", method="POST", body=b"x")
            calls.append(asyncio.create_task(call(gateway.port, raw)))
            await asyncio.sleep(1 / RATE)

    neighbours = [Route("n", f"f{number}", "u", 1) for number in range(50)]
    async with upstream(slow) as last, asyncio.TaskGroup() as group:
        running: asyncio.Task[None] | None = None
        for generation in range(1, 12):
            async with upstream(slow, drains=True) as served:
                await gateway.route(served.route(generation=generation), *neighbours)
                running = running or group.create_task(load())
                await asyncio.sleep(0.2)
                await gateway.route(last.route(), *neighbours)
                # As the runner does: Envoy's workers follow its main thread a moment later.
                await asyncio.sleep(SETTLE_SECONDS)
            # It has stopped accepting, and drained.
            counts.append(len(served.heads))
        assert running is not None
        running.cancel()
        statuses = [answer.status for answer in await asyncio.gather(*calls)]
    assert min(counts) > 5
    assert len(statuses) > RATE
    assert statuses == [200] * len(statuses)


async def test_more_than_a_thousand_requests_at_once(gateway: RunningGateway) -> None:
    """Envoy's own limit is 1024."""
    wanted, together = 1_100, asyncio.Event()

    async def gather(
        _reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _head: bytes
    ) -> None:
        if len(served.heads) == wanted:
            together.set()
        await together.wait()
        writer.write(OK)

    async with function(gateway, gather) as served:
        calls = [call(gateway.port, request("/fn/a/b/")) for _ in range(wanted)]
        answers = await asyncio.gather(*calls)
    assert {answer.status for answer in answers} == {200}


def test_connections_beyond_the_limit_are_closed(tmp_path: Path) -> None:
    with running_gateway(tmp_path, max_connections=2) as gateway, ExitStack() as stack:
        address = ("127.0.0.1", gateway.port)
        first, _, third = (
            stack.enter_context(socket.create_connection(address, DEADLINE)) for _ in range(3)
        )
        assert third.recv(1) == b""
        first.settimeout(0)
        with pytest.raises(BlockingIOError):
            first.recv(1)


async def test_a_request_under_way_is_finished_by_the_old_endpoint(gateway: RunningGateway) -> None:
    go_on = asyncio.Event()

    async def in_two_parts(
        _reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _head: bytes
    ) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nold")
        await go_on.wait()
        writer.write(b"old")

    async with upstream(in_two_parts) as before, upstream(answering(OK)) as after:
        await gateway.route(before.route())
        pending = asyncio.create_task(call(gateway.port, request("/fn/a/b/")))
        await until(lambda: bool(before.heads))
        await gateway.route(after.route(generation=2))
        assert (await call(gateway.port, request("/fn/a/b/"))).body == b"ok"
        await gateway.route()
        assert (await call(gateway.port, request("/fn/a/b/"))).status == 404
        go_on.set()
        assert (await pending).body == b"oldold"


async def test_a_refusal_is_told_in_envoys_words(gateway: RunningGateway) -> None:
    async with function(gateway, answering(OK)) as served:
        broken = Route("a", "c", "u", 1, (Endpoint("127.0.0.1", 80),))
        object.__setattr__(broken.endpoints[0], "host", "no-address")
        version = gateway.files.apply([served.route(), broken])
        with pytest.raises(InternalError, match="fn/a/c: malformed IP address: no-address"):
            await gateway.files.wait_applied(version, DEADLINE)
        assert (await call(gateway.port, request("/fn/a/b/"))).status == 200
        await gateway.route(served.route(generation=2))


async def test_sigterm_drains(gateway: RunningGateway) -> None:
    go_on = asyncio.Event()

    async def when_told(
        _reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _head: bytes
    ) -> None:
        await go_on.wait()
        writer.write(OK)

    async with function(gateway, when_told) as served:
        pending = asyncio.create_task(call(gateway.port, request("/fn/a/b/")))
        await until(lambda: bool(served.heads))
        gateway.process.send_signal(signal.SIGTERM)
        await until_refused(gateway.port)
        assert gateway.process.poll() is None
        go_on.set()
        answer = await pending
    assert (answer.status, answer.body, answer.headers["connection"]) == (200, b"ok", "close")
    assert await asyncio.to_thread(gateway.process.wait, DEADLINE) == 0


async def test_sigterm_waits_no_longer_than_set(gateway: RunningGateway) -> None:
    async def never(
        _reader: asyncio.StreamReader, _writer: asyncio.StreamWriter, _head: bytes
    ) -> None:
        await asyncio.sleep(DEADLINE)

    async with function(gateway, never) as served:
        pending = asyncio.create_task(call(gateway.port, request("/fn/a/b/")))
        await until(lambda: bool(served.heads))
        started = monotonic()
        gateway.process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(gateway.process.wait, DEADLINE) == 0
        assert 1.5 < monotonic() - started < DEADLINE / 2
        with pytest.raises(AssertionError, match="without an answer"):
            await pending


async def test_a_gateway_that_leaves_loses_no_call(leaving: RunningGateway) -> None:
    """Callers come until they are told that it leaves, on connections that they keep."""
    told, statuses = asyncio.Event(), []

    async def keep_calling(port: int, *, pause: float) -> None:
        while not told.is_set():
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            closes = False
            while not closes:
                writer.write(request("/fn/a/b/"))
                answer = await read_answer(reader)
                statuses.append(answer.status)
                closes = "close" in answer.headers.get("connection", "")
                await asyncio.sleep(pause)
            writer.close()

    async with function(leaving, slow), asyncio.TaskGroup() as group:
        for number in range(10):
            group.create_task(keep_calling(leaving.port, pause=0.05 + number / 100))
        await until(lambda: len(statuses) > RATE / 4)
        leaving.process.send_signal(signal.SIGTERM)
        before = len(statuses)
        await until(lambda: len(statuses) > before + RATE / 4)
        told.set()
    assert await asyncio.to_thread(leaving.process.wait, DEADLINE) == 0
    assert statuses == [200] * len(statuses)


async def until_refused(port: int) -> None:
    async with asyncio.timeout(DEADLINE):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                return
            writer.close()
            await asyncio.sleep(0.01)


def test_a_killed_gateway_leaves_no_envoy_and_starts_again(
    gateway: RunningGateway, tmp_path: Path
) -> None:
    envoy = Path(f"/proc/{gateway.envoy_pid()}/stat")
    gateway.process.kill()
    gateway.process.wait()
    deadline = monotonic() + DEADLINE
    while envoy.exists() and ") Z " not in envoy.read_text():
        assert monotonic() < deadline
        sleep(0.01)
    assert gateway.files.paths.admin.exists()  # the stale socket is in nobody's way
    with running_gateway(tmp_path) as again:
        assert again.process.poll() is None


def test_a_taken_port_is_said(gateway: RunningGateway, tmp_path: Path) -> None:
    folder = tmp_path / "second"
    GatewayFiles(folder, gateway.settings).write_bootstrap()
    command = envoy_command(gateway.settings, folder)
    second = subprocess.run(command, capture_output=True, timeout=DEADLINE, check=False)
    assert second.returncode == 1
    port = gateway.port
    said = f"The gateway could not start: cannot bind '127.0.0.1:{port}': Address already in use\n"
    assert second.stderr.decode().endswith(said)
