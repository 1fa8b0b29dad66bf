"""A real Envoy, small raw upstreams and a raw caller, so that tests see exact bytes."""

import asyncio
import contextlib
import json
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h11

from sless.gateway.command import envoy_command
from sless.gateway.files import GatewayFiles
from sless.gateway.route import Endpoint, Route
from sless.gateway.settings import GatewaySettings
from tests.fixtures.ports import free_port
from tests.fixtures.waiting import until

DEADLINE = 20.0
"""Seconds in which anything must have happened, on a busy machine."""


@dataclass(frozen=True, slots=True)
class RunningGateway:
    settings: GatewaySettings
    files: GatewayFiles
    process: subprocess.Popen[bytes]

    @property
    def port(self) -> int:
        return self.settings.port

    def envoy_pid(self) -> int:
        """Of Envoy itself, below the process that drains it."""
        pid = self.process.pid
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    async def route(self, *routes: Route) -> None:
        await self.files.wait_applied(self.files.apply(routes), DEADLINE)

    def access_log(self) -> list[dict[str, Any]]:
        assert self.settings.access_log is not None
        return [json.loads(line) for line in self.settings.access_log.read_text().splitlines()]


@contextlib.contextmanager
def running_gateway(folder: Path, **settings: Any) -> Iterator[RunningGateway]:
    chosen = GatewaySettings(
        port=free_port(), concurrency=1, access_log=folder / "access.log", **settings
    )
    files = GatewayFiles(folder, chosen)
    files.write_bootstrap()
    version = files.apply([])
    process = subprocess.Popen(envoy_command(chosen, folder))
    try:
        asyncio.run(files.wait_applied(version, DEADLINE))
        yield RunningGateway(chosen, files, process)
    finally:
        process.kill()  # Envoy dies with it
        process.wait()


@dataclass(slots=True)
class Upstream:
    """A function's server: `heads` are the requests as they arrived."""

    port: int
    heads: list[bytes] = field(default_factory=list)

    def route(self, name: str = "b", generation: int = 1) -> Route:
        return Route("a", name, "uid", generation, (Endpoint("127.0.0.1", self.port),))

    def headers(self) -> dict[str, str]:
        """Of the last request; names in lower case."""
        lines = self.heads[-1].decode("latin1").split("\r\n")[1:-2]
        return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}


Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter, bytes], Awaitable[None]]
"""Gets a request's head, may read its body, writes what it likes."""


def answering(raw: bytes) -> Handler:
    async def handle(
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        head: bytes,
    ) -> None:
        await read_body(reader, head)
        writer.write(raw)

    return handle


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def read_body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return await reader.readexactly(int(line.split(b":")[1]))
    return b""


@contextlib.asynccontextmanager
async def upstream(
    handle: Handler, *, drains: bool = False, host: str = "127.0.0.1"
) -> AsyncIterator[Upstream]:
    """A server; one that drains answers what it has begun, and closes everything then."""
    busy: set[bytes] = set()
    open_writers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_writers.add(writer)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                served.heads.append(head)
                busy.add(head)
                await handle(reader, writer, head)
                await writer.drain()
                busy.discard(head)
        writer.close()
        open_writers.discard(writer)

    server = await asyncio.start_server(serve, host, 0, backlog=2_048)
    served = Upstream(server.sockets[0].getsockname()[1])
    async with server:
        yield served
        server.close()
        if drains:
            await until(lambda: not busy)
        for writer in open_writers:
            writer.close()


@contextlib.asynccontextmanager
async def function(gateway: RunningGateway, handle: Handler) -> AsyncIterator[Upstream]:
    """The function `/fn/a/b/`, served by `handle` and routed."""
    async with upstream(handle) as served:
        await gateway.route(served.route())
        yield served


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    """Names as they came."""
    body: bytes
    whole: bool
    """False when the connection ended in mid body."""

    def problem(self) -> dict[str, Any]:
        assert self.headers["content-type"] == "application/problem+json"
        problem: dict[str, Any] = json.loads(self.body)
        assert problem["status"] == self.status
        assert problem["type"] == f"urn:sless:reason:{problem['reason']}"
        assert problem["requestId"] == self.headers["x-request-id"]
        return problem


def request(target: str, *headers: str, method: str = "GET", body: bytes = b"") -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: gateway.example", *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin1") + body


async def call(port: int, raw: bytes) -> Answer:
    """Send those bytes on a connection of their own, and read one answer."""
    async with asyncio.timeout(DEADLINE):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(raw)
            return await read_answer(reader, raw.split(b" ", 1)[0])
        finally:
            writer.close()


async def read_answer(reader: asyncio.StreamReader, method: bytes = b"GET") -> Answer:
    parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 20)
    parser.send(h11.Request(method=method, target=b"/", headers=[(b"Host", b"x")]))
    parser.send(h11.EndOfMessage())
    head: h11.Response | h11.InformationalResponse | None = None
    body = b""
    while True:
        try:
            event = parser.next_event()
        except h11.RemoteProtocolError:
            break  # cut
        if event is h11.NEED_DATA:
            parser.receive_data(await reader.read(65_536))
        elif isinstance(event, h11.Response | h11.InformationalResponse):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
        else:
            break
    assert head is not None, "the connection ended without an answer"
    headers = {name.decode(): value.decode("latin1") for name, value in head.headers.raw_items()}
    return Answer(head.status_code, headers, body, isinstance(event, h11.EndOfMessage))
