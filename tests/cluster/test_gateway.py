"""The gateway's two processes on a real API server; the slices are made by hand."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.endpoint_slices import CONTROLLER
from sless.adapters.kubernetes.resources import ENDPOINT_SLICES
from sless.gateway.bootstrap import GatewayPaths
from tests.cluster.cluster_gateway import ClusterGateway, accepts, cluster_gateway, until_ready
from tests.cluster.cut import Wire
from tests.cluster.node.place import read_place
from tests.cluster.severable import severable
from tests.cluster.spaces import MANAGER, ensure_spaces
from tests.component.gateway_rig import Upstream, answering, upstream
from tests.fixtures.waiting import until

SPACE = "gateway-slices"
HELLO = f"{SPACE}/hello"
CHANGES = 20
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
NEW = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew"


class Slices:
    """Of one namespace, as a controller would write them."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server

    async def put(
        self, name: str, *upstreams: Upstream, ready: bool = True, by: str = CONTROLLER
    ) -> None:
        """The slice of a function of that name."""
        host = read_place().ip  # an endpoint cannot have a loopback address
        ports = [{"name": "http", "port": each.port, "protocol": "TCP"} for each in upstreams]
        body: dict[str, Any] = {
            "metadata": {
                "name": f"fn-{name}-1",
                "labels": {
                    "endpointslice.kubernetes.io/managed-by": by,
                    "kubernetes.io/service-name": f"fn-{name}",
                    "sless.io/function": name,
                    "sless.io/uid": "u-1",
                },
            },
            "addressType": "IPv4",
            "ports": ports[:1],
            "endpoints": [
                {"addresses": [host], "conditions": {"ready": ready}} for _ in upstreams[:1]
            ],
        }
        await self._server.apply(ENDPOINT_SLICES, SPACE, body, manager=MANAGER, force=True)

    async def remove(self, name: str) -> None:
        await self._server.delete(ENDPOINT_SLICES, SPACE, f"fn-{name}-1")

    async def clear(self) -> None:
        for item in (await self._server.list(ENDPOINT_SLICES, SPACE)).items:
            await self._server.delete(ENDPOINT_SLICES, SPACE, item["metadata"]["name"])


@pytest.fixture
async def slices(server: ApiServer) -> AsyncIterator[Slices]:
    await ensure_spaces(server, (SPACE,))
    made = Slices(server)
    await made.clear()
    yield made
    await made.clear()


@pytest.fixture
async def old() -> AsyncIterator[Upstream]:
    async with upstream(answering(OK), host=read_place().ip) as served:
        yield served


@pytest.fixture
async def new() -> AsyncIterator[Upstream]:
    async with upstream(answering(NEW), host=read_place().ip) as served:
        yield served


@pytest.fixture
async def way(kubeconfig: str, tmp_path: Path) -> AsyncIterator[tuple[Wire, Path]]:
    async with severable(kubeconfig, tmp_path) as found:
        yield found


@pytest.fixture
async def gateway(tmp_path: Path, way: tuple[Wire, Path]) -> AsyncIterator[ClusterGateway]:
    async with cluster_gateway(tmp_path, way[1]) as running:
        yield running


def address(served: Upstream) -> str:
    return f"{read_place().ip}:{served.port}"


async def test_calls_follow_the_slices(
    gateway: ClusterGateway, slices: Slices, old: Upstream, new: Upstream
) -> None:
    await slices.put("hello", old)
    await gateway.until_routed(HELLO, [address(old)])
    assert (await gateway.call(HELLO)).body == b"ok"
    await slices.put("hello", new)
    await gateway.until_routed(HELLO, [address(new)])
    assert (await gateway.call(HELLO)).body == b"new"
    await slices.put("hello", new, ready=False)
    await gateway.until_routed(HELLO, [])
    assert (await gateway.call(HELLO)).problem()["reason"] == "NoRunningRevision"
    await slices.remove("hello")
    await gateway.until_routed(HELLO, None)
    assert (await gateway.call(HELLO)).problem()["reason"] == "FunctionNotFound"


async def test_a_slice_that_somebody_wrote_takes_no_part(
    gateway: ClusterGateway, slices: Slices, old: Upstream, new: Upstream
) -> None:
    await slices.put("other", new, by="endpointslicemirroring-controller.k8s.io")
    await slices.put("hello", old)
    await gateway.until_routed(HELLO, [address(old)])
    assert await gateway.routed(f"{SPACE}/other") is None
    assert (await gateway.call(f"{SPACE}/other")).status == 404


async def test_envoy_starts_with_what_is_ready(
    tmp_path: Path, way: tuple[Wire, Path], slices: Slices, old: Upstream
) -> None:
    await slices.put("hello", old)
    async with cluster_gateway(tmp_path, way[1], start=False) as gateway:
        gateway.start("envoy")
        gateway.start("gateway")
        await until(lambda: accepts(gateway.port))
        assert (await gateway.call(HELLO)).body == b"ok"


async def test_an_api_server_that_is_away_changes_nothing(
    gateway: ClusterGateway, way: tuple[Wire, Path], slices: Slices, old: Upstream, new: Upstream
) -> None:
    await slices.put("hello", old)
    await gateway.until_routed(HELLO, [address(old)])
    way[0].cut()
    await slices.put("hello", new)
    await until(lambda: b"objects not read" in gateway.log("gateway").read_bytes())
    assert (await gateway.call(HELLO)).body == b"ok"
    assert await gateway.routed(HELLO) == [address(old)]
    way[0].mend()
    await gateway.until_routed(HELLO, [address(new)])
    assert (await gateway.call(HELLO)).body == b"new"


async def test_a_writer_that_comes_back_blind_leaves_the_routes(
    gateway: ClusterGateway, way: tuple[Wire, Path], slices: Slices, old: Upstream
) -> None:
    await slices.put("hello", old)
    await gateway.until_routed(HELLO, [address(old)])
    way[0].cut()
    await gateway.end("gateway", signal.SIGKILL)
    gateway.log("gateway").unlink()
    gateway.start("gateway")
    await until(lambda: b"objects not read" in gateway.log("gateway").read_bytes())
    assert (await gateway.tell("readyz")).status_code == 503
    assert (await gateway.tell("routed")).status_code == 503
    assert (await gateway.call(HELLO)).body == b"ok"
    way[0].mend()
    await gateway.until_routed(HELLO, [address(old)])


async def test_changes_meanwhile_are_taken_together(
    gateway: ClusterGateway, slices: Slices, old: Upstream, new: Upstream
) -> None:
    await slices.put("hello", old)
    await gateway.until_routed(HELLO, [address(old)])
    version = (await gateway.tell("routed")).json()["version"]
    os.kill(gateway.envoy_pid(), signal.SIGSTOP)
    for number in range(CHANGES):
        await slices.put(f"more-{number}", new)
    versions = set()
    os.kill(gateway.envoy_pid(), signal.SIGCONT)
    while await gateway.routed(f"{SPACE}/more-{CHANGES - 1}") is None:
        version = (await gateway.tell("routed", after=version, wait=1)).json()["version"]
        versions.add(version)
    # What it was about to take, all that came meanwhile, and what a busy machine brings late.
    assert len(versions) < CHANGES / 4


async def test_an_envoy_that_died_comes_back_with_the_routes(
    gateway: ClusterGateway, slices: Slices, old: Upstream, new: Upstream
) -> None:
    await slices.put("hello", old)
    await gateway.until_routed(HELLO, [address(old)])
    await gateway.end("envoy", signal.SIGKILL)
    await slices.put("hello", new)
    gateway.start("envoy")
    await until_ready(gateway)
    await gateway.until_routed(HELLO, [address(new)])
    assert (await gateway.call(HELLO)).body == b"new"


async def test_both_end_when_they_are_told(gateway: ClusterGateway) -> None:
    version = (await until(lambda: _routed(gateway))).json()["version"]
    waiting = asyncio.create_task(gateway.tell("routed", after=version, wait=60))
    await gateway.tell("routed", after=version, wait=0.05)
    started = monotonic()
    # A pod's containers end in this order.
    assert await gateway.end("envoy") == 0
    assert await gateway.end("gateway") == 0
    assert (await waiting).json()["version"] == version
    assert monotonic() - started < 20


async def _routed(gateway: ClusterGateway) -> object:
    answer = await gateway.tell("routed")
    return answer if answer.status_code == 200 else None


async def test_an_envoy_that_waits_for_its_writer_ends_too(
    tmp_path: Path, way: tuple[Wire, Path]
) -> None:
    async with cluster_gateway(tmp_path, way[1], start=False) as gateway:
        gateway.start("envoy")
        process = gateway.running["envoy"].pid
        await until(lambda: _handles_sigterm(process))
        assert await gateway.end("envoy") == 0
        assert not GatewayPaths(tmp_path / "shared").bootstrap.exists()


def _handles_sigterm(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    caught = int(status.partition("SigCgt:")[2].split()[0], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)
