"""What the scene says of real pods, and of a gateway that routes to them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.deployments import KubernetesDeployments
from sless.adapters.kubernetes.gateways import GatewayService
from sless.adapters.kubernetes.resources import ENDPOINT_SLICES, PODS
from sless.cluster.board import Board, render_taken
from sless.cluster.routed_server import make_routed_server
from sless.gateway.route import Endpoint, Route
from sless.model.deployment import Deployment, Progress
from sless.model.routed import Routed
from sless.ports.scene import Standing
from tests.cluster.chart import SYSTEM
from tests.cluster.node.place import read_place
from tests.cluster.scene_rig import Scene, watching
from tests.cluster.spaces import MANAGER
from tests.cluster.swapping import swap_revision
from tests.cluster.test_rollouts import (  # noqa: F401  # fixtures
    SPACE,
    bases,
    create,
    deployments,
    fresh,
    start,
)
from tests.fixtures.ports import free_port
from tests.fixtures.waiting import until

SERVICE = "scene-gateway"


@pytest.fixture
async def gateway(server: ApiServer) -> AsyncIterator[tuple[Board, GatewayService]]:
    """One on this machine, by the address that pods reach it by, with a slice made by hand."""
    ip, port = read_place().ip, free_port()
    labels = {
        "kubernetes.io/service-name": SERVICE,
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    body = {
        "metadata": {"name": SERVICE, "labels": labels},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [ip], "conditions": {"ready": True}}],
        "ports": [{"name": "tell", "port": port, "protocol": "TCP"}],
    }
    await server.delete(ENDPOINT_SLICES, SYSTEM, SERVICE)
    await server.create(ENDPOINT_SLICES, SYSTEM, body, manager=MANAGER)
    board = Board()
    telling = make_routed_server(board, host=ip, port=port)
    task = asyncio.create_task(telling.serve())
    yield board, GatewayService(SYSTEM, SERVICE, port)
    board.close()
    telling.should_exit = True
    with contextlib.suppress(asyncio.CancelledError):
        await task
    await server.delete(ENDPOINT_SLICES, SYSTEM, SERVICE)


async def pod_address(server: ApiServer) -> str:
    async def address() -> str:
        pods = (await server.list(PODS, SPACE, labels="sless.io/function=hello")).items
        return next((pod["status"].get("podIP", "") for pod in pods), "")

    return str(await until(address, pause=0.1))


async def test_a_rollout_is_seen_until_it_is_routed(  # noqa: PLR0913  # fixtures
    kubeconfig: str,
    tmp_path: Path,
    server: ApiServer,
    deployments: KubernetesDeployments,  # noqa: F811  # the fixture
    fresh: Deployment,  # noqa: F811  # the fixture
    *,
    gateway: tuple[Board, GatewayService],
) -> None:
    board, service = gateway
    async with watching(kubeconfig, SPACE, folder=tmp_path, gateways=service) as scene:
        await create(deployments, fresh)
        await start(server, ["python3", "-m", "http.server", "8080"])
        serving = await judged(scene, Progress.AVAILABLE)
        assert serving.deployment is not None

        async def is_in_step() -> bool:
            return (await scene.get("hello")).deployment == await deployments.find(SPACE, "hello")

        await until(is_in_step)
        assert serving.routed is None
        where = Endpoint(await pod_address(server), 8080)
        board.tell(render_taken("1", [Route(SPACE, "hello", "", None, (where,))]))

        async def routed() -> Routed | None:
            return (await scene.get("hello")).routed

        async def is_routed() -> bool:
            instance = fresh.revision.instance
            return await routed() == Routed(SPACE, "hello", fresh.ask.uid, 1, instance)

        await until(is_routed)
        gone = replace(fresh.revision, image=f"{fresh.revision.image[:-64]}{'1' * 64}")
        await swap_revision(deployments, SPACE, gone)
        failed = await judged(scene, Progress.FAILED)
        assert failed.deployment is not None
        assert failed.deployment.availability.reason == "ImageMissing"
        board.tell(render_taken("2", [Route(SPACE, "hello", "", None)]))

        async def is_unrouted() -> bool:
            return await routed() is None

        await until(is_unrouted)


async def judged(scene: Scene, progress: Progress) -> Standing:
    async def reached() -> Standing | None:
        found = await scene.find("hello")
        deployment = found.deployment if found else None
        return found if deployment and deployment.availability.progress is progress else None

    found = await until(reached, pause=0.1)
    assert isinstance(found, Standing)
    return found
