"""The watcher's wait for a change: whoever ends it is heard, at whatever moment."""

import asyncio

import pytest
from kubernetes.aio.client import Configuration

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.connection import Connection
from sless.adapters.kubernetes.gateways import GatewayService
from sless.adapters.kubernetes.scene import KubernetesScene
from sless.model.function import FunctionRef


@pytest.mark.parametrize("turns", range(6))
async def test_a_cancel_in_the_moment_of_a_change_is_heard(turns: int) -> None:
    server = ApiServer(Connection(Configuration(host="http://127.0.0.1:9")))
    scene = KubernetesScene(server, gateways=GatewayService("sless-system", "gateway", 1))
    waiting = asyncio.create_task(scene.changed(seconds=60))
    for _ in range(3):
        await asyncio.sleep(0)
    scene._standings.mark(FunctionRef("team", "hello"))
    for _ in range(turns):
        await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await scene.close()
    await server.close()
