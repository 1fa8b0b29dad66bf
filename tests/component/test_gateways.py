"""The watcher's side of `/routed`, against gateways' own server and a scripted API server."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes.aio.client import Configuration

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.connection import Connection
from sless.adapters.kubernetes.gateways import Gateways, GatewayService
from sless.cluster.board import Board, render_taken
from sless.cluster.routed_server import make_routed_server
from sless.gateway.route import Endpoint, Route
from sless.model.function import FunctionRef
from tests.fixtures.ports import free_port
from tests.fixtures.waiting import until

HELLO, OTHER = FunctionRef("team", "hello"), FunctionRef("team", "other")
FIRST, SECOND = "127.0.0.2", "127.0.0.3"
POD = "10.1.0.1"


@dataclass
class Cluster:
    """Tells one EndpointSlice; a change ends the watch under way, and the next list has it."""

    hosts: dict[str, bool] = field(default_factory=dict)
    """Whether each is ready."""
    version: int = 1
    moved: asyncio.Event = field(default_factory=asyncio.Event)

    def show(self, **_: object) -> None:
        self.version += 1
        self.moved.set()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        assert "service-name=sless-gateway" in request.query["labelSelector"]
        assert request.path.endswith("/namespaces/sless-system/endpointslices")
        version = {"resourceVersion": str(self.version)}
        if request.query.get("watch") != "true":
            metadata = {"namespace": "sless-system", "name": "s", **version}
            endpoints = [
                {"addresses": [host], "conditions": {"ready": ready}}
                for host, ready in self.hosts.items()
            ]
            items = [{"metadata": metadata, "endpoints": endpoints}]
            return web.json_response({"metadata": version, "items": items})
        await self.moved.wait()
        self.moved.clear()
        raise web.HTTPGone(text="{}")


@contextlib.asynccontextmanager
async def gateway(host: str, port: int) -> AsyncIterator[Board]:
    board = Board()
    server = make_routed_server(board, host=host, port=port)
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    try:
        yield board
    finally:
        await end(server, board, serving)


async def end(server: uvicorn.Server, board: Board, serving: "asyncio.Task[None]") -> None:
    board.close()
    server.should_exit = True
    await serving


def tell(board: Board, version: str, **endpoints: tuple[str, ...]) -> None:
    routes = [
        Route("team", name, "uid", 1, tuple(Endpoint(host, 8080) for host in hosts))
        for name, hosts in endpoints.items()
    ]
    board.tell(render_taken(version, routes))


@dataclass
class Rig:
    cluster: Cluster
    gateways: Gateways
    port: int
    changed: list[FunctionRef]

    async def sees(self, *tables: list[str]) -> None:
        await until(lambda: sorted(self.gateways.tables(HELLO)) == sorted(tables))


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    cluster, port = Cluster(), free_port()
    changed: list[FunctionRef] = []
    app = web.Application()
    app.router.add_route("GET", "/{path:.*}", cluster.answer)
    async with TestServer(app) as api:
        server = ApiServer(Connection(Configuration(host=str(api.make_url("")).rstrip("/"))))
        service = GatewayService("sless-system", "sless-gateway", port)
        gateways = Gateways(server, service, changed=changed.append)
        running = asyncio.create_task(gateways.run())
        yield Rig(cluster, gateways, port, changed)
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        await server.close()


async def test_each_change_is_told_for_its_function_alone(rig: Rig) -> None:
    rig.cluster.hosts = {FIRST: True}
    rig.cluster.show()
    async with gateway(FIRST, rig.port) as board:
        tell(board, "1", hello=(POD,), other=(POD,))
        await rig.sees([f"{POD}:8080"])
        assert set(rig.changed) == {HELLO, OTHER}
        rig.changed.clear()
        tell(board, "2", hello=("10.1.0.2",), other=(POD,))
        await rig.sees(["10.1.0.2:8080"])
        assert rig.changed == [HELLO]
        tell(board, "3", other=(POD,))
        await rig.sees([])


async def test_a_gateway_counts_once_it_answered_and_until_it_leaves(rig: Rig) -> None:
    rig.cluster.hosts = {FIRST: True, SECOND: True}
    rig.cluster.show()
    async with gateway(FIRST, rig.port) as first:
        async with gateway(SECOND, rig.port) as second:
            tell(first, "1", hello=(POD,))
            await rig.sees([f"{POD}:8080"])  # the second one has nothing to tell yet
            tell(second, "1", hello=(POD, "10.1.0.2"))
            await rig.sees([f"{POD}:8080"], [f"{POD}:8080", "10.1.0.2:8080"])
        tell(first, "2", hello=())
        await rig.sees([], [f"{POD}:8080", "10.1.0.2:8080"])  # what it said last
        rig.changed.clear()
        rig.cluster.hosts = {FIRST: True, SECOND: False}
        rig.cluster.show()
        await rig.sees([])
        assert HELLO in rig.changed


async def test_rubbish_is_no_answer(rig: Rig) -> None:
    answers: list[Any] = [[], {"version": "1", "routes": {"team/hello": "10.1.0.1"}}]
    asked = 0

    async def answer(_: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        return web.json_response(answers[min(asked, len(answers)) - 1])

    app = web.Application()
    app.router.add_route("GET", "/routed", answer)
    rig.cluster.hosts = {FIRST: True}
    rig.cluster.show()
    async with TestServer(app, host=FIRST, port=rig.port):
        await until(lambda: asked >= 3)
        await rig.sees()
