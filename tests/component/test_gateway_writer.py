"""The writer and a real Envoy, by what an API server lists and tells."""

import asyncio
import contextlib
import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes.aio.client import Configuration

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.connection import Connection
from sless.adapters.kubernetes.endpoint_slices import CONTROLLER
from sless.cluster.board import Board
from sless.cluster.gateway_writer import GatewayWriter
from sless.errors import InvalidSetting
from sless.gateway.command import envoy_command
from sless.gateway.files import GatewayFiles
from sless.gateway.settings import GatewaySettings
from tests.component.gateway_rig import DEADLINE, OK, Upstream, answering, call, request, upstream
from tests.fixtures.ports import free_port
from tests.fixtures.waiting import until

pytestmark = pytest.mark.real


@dataclass
class Slices:
    """One slice, of the function a/b, as an API server lists it and watches tell of it."""

    version: int = 1
    upstream: Upstream | None = None
    away: bool = False
    asked: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def set(self, served: Upstream | None) -> None:
        self.version += 1
        self.upstream = served
        self.changed.set()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked += 1
        if self.away:
            return web.Response(status=500, text="etcd is away")
        if request.query.get("watch") != "true":
            metadata = {"resourceVersion": str(self.version)}
            return web.json_response({"metadata": metadata, "items": [self._render()]})
        response = web.StreamResponse()
        await response.prepare(request)
        while not self.away:
            await self.changed.wait()
            self.changed.clear()
            event = {"type": "MODIFIED", "object": self._render()}
            await response.write(json.dumps(event).encode() + b"\n")
        return response

    def leave(self) -> None:
        self.away = True
        self.changed.set()

    def _render(self) -> dict[str, Any]:
        labels = {
            "endpointslice.kubernetes.io/managed-by": CONTROLLER,
            "kubernetes.io/service-name": "fn-b",
            "sless.io/function": "b",
        }
        here = self.upstream
        return {
            "metadata": {
                "namespace": "a",
                "name": "fn-b-1",
                "resourceVersion": str(self.version),
                "labels": labels,
            },
            "addressType": "IPv4",
            "ports": [{"name": "http", "port": here.port}] if here else None,
            "endpoints": [{"addresses": ["127.0.0.1"]}] if here else None,
        }


@pytest.fixture
async def slices() -> Slices:
    return Slices()


@pytest.fixture
async def server(slices: Slices) -> AsyncIterator[ApiServer]:
    app = web.Application()
    app.router.add_route("GET", "/{path:.*}", slices.answer)
    async with TestServer(app) as listening:
        url = str(listening.make_url("")).rstrip("/")
        client = ApiServer(Connection(Configuration(host=url)))
        yield client
        await client.close()


@pytest.fixture
def settings() -> GatewaySettings:
    return GatewaySettings(port=free_port(), concurrency=1)


@contextlib.asynccontextmanager
async def writing(
    server: ApiServer, folder: Path, settings: GatewaySettings
) -> AsyncIterator[Board]:
    board = Board()
    writer = GatewayWriter(GatewayFiles(folder, settings), board)
    running = asyncio.create_task(writer.run(server))
    yield board
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running


@contextlib.contextmanager
def running_envoy(settings: GatewaySettings, folder: Path) -> Iterator[None]:
    process = subprocess.Popen(envoy_command(settings, folder))
    try:
        yield
    finally:
        process.kill()  # Envoy dies with it
        process.wait()


@pytest.fixture
async def board(
    server: ApiServer, slices: Slices, tmp_path: Path, settings: GatewaySettings
) -> AsyncIterator[Board]:
    """Of a writer beside an Envoy; the function's server is the first to be routed."""
    async with upstream(answering(OK)) as first, writing(server, tmp_path, settings) as board:
        slices.set(first)
        await until(lambda: board.written)
        with running_envoy(settings, tmp_path):
            await routed(board, first)
            yield board


async def routed(board: Board, *served: Upstream) -> None:
    endpoints = [f"127.0.0.1:{each.port}" for each in served]

    async def is_so() -> bool:
        taken = await board.find(after="", seconds=DEADLINE)
        return taken is not None and json.loads(taken.body)["routes"] == {"a/b": endpoints}

    await until(is_so)


async def body(settings: GatewaySettings) -> bytes:
    return (await call(settings.port, request("/fn/a/b/"))).body


async def test_calls_follow_what_is_told(
    board: Board, slices: Slices, settings: GatewaySettings
) -> None:
    assert await body(settings) == b"ok"
    async with upstream(answering(OK.replace(b"ok", b"no"))) as second:
        slices.set(second)
        await routed(board, second)
        assert await body(settings) == b"no"
        slices.set(None)
        await routed(board)
    assert b"NoRunningRevision" in await body(settings)


async def test_no_table_is_written_for_want_of_a_list(
    board: Board, slices: Slices, server: ApiServer, tmp_path: Path, settings: GatewaySettings
) -> None:
    """Neither by a writer that loses sight of the cluster, nor by one that starts blind."""
    before = (tmp_path / "routes" / "routes.json").read_bytes()
    slices.leave()
    async with writing(server, tmp_path, settings) as blind:
        so_far = slices.asked
        await until(lambda: slices.asked >= so_far + 4)
        assert not blind.written
    assert (tmp_path / "routes" / "routes.json").read_bytes() == before
    assert await body(settings) == b"ok"
    assert board.written


async def test_nothing_is_ready_for_envoy_before_the_cluster_was_read(
    slices: Slices, server: ApiServer, tmp_path: Path, settings: GatewaySettings
) -> None:
    slices.leave()
    async with writing(server, tmp_path, settings) as board:
        await until(lambda: slices.asked >= 2)
        assert not board.written
        assert list(tmp_path.iterdir()) == []
        slices.away = False
        await until(lambda: board.written)
        assert b"fn/a/b" in (tmp_path / "routes" / "routes.json").read_bytes()


async def test_a_folder_that_envoy_cannot_use_ends_the_writer(
    server: ApiServer, tmp_path: Path, settings: GatewaySettings
) -> None:
    folder = tmp_path / ("x" * 120)
    writer = GatewayWriter(GatewayFiles(folder, settings), Board())
    with pytest.raises(InvalidSetting, match="shorter path"):
        await writer.run(server)
