"""The platform's gateway is replaced while functions are called through its Service."""

import asyncio
import uuid
from typing import Any
from urllib.parse import urlsplit

import pytest

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.resources import DEPLOYMENTS, PODS
from tests.cluster.chart import SYSTEM, Values
from tests.cluster.spaces import MANAGER
from tests.cluster.test_gateway_rollouts import HELLO, PATIENCE, Hello, bases, hello
from tests.component.gateway_rig import DEADLINE, read_answer, request
from tests.fixtures.waiting import until

__all__ = ["bases", "hello"]

CALLERS = 20
PERIOD = 0.1
"""Seconds between the calls of each: 200 a second in all, with time in which nothing is sent."""
CALL = request(f"/fn/{HELLO}/", method="POST", body=b"x")
GATEWAYS = "app.kubernetes.io/component=gateway"


Address = tuple[str, int]
"""The Service's, from outside."""


@pytest.fixture
def gateway(installed: Values) -> Address:
    url = urlsplit(installed["settings"]["SLESS_GATEWAY__URL"])
    return url.hostname or "", url.port or 80


class Callers:
    """People who keep their connections for as long as they may."""

    def __init__(self, gateway: Address) -> None:
        self._gateway = gateway
        self.statuses: list[int] = []
        self.stopped = asyncio.Event()
        self.connections = 0

    async def call(self) -> None:
        while not self.stopped.is_set():
            reader, writer = await asyncio.open_connection(*self._gateway)
            self.connections += 1
            try:
                while await self._call_once(reader, writer):  # noqa: ASYNC110  # a caller's pause
                    await asyncio.sleep(PERIOD)
            finally:
                writer.close()

    async def _call_once(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection may be used again."""
        writer.write(CALL)
        async with asyncio.timeout(DEADLINE):
            answer = await read_answer(reader, b"POST")
        self.statuses.append(answer.status)
        return answer.headers.get("connection") != "close" and not self.stopped.is_set()


async def names_of(server: ApiServer) -> set[str]:
    pods = (await server.list(PODS, SYSTEM, labels=GATEWAYS)).items
    return {pod["metadata"]["name"] for pod in pods}


async def replace_gateways(server: ApiServer) -> None:
    """As `kubectl rollout restart` does; returns when the last of the old ones is gone."""
    before = await names_of(server)
    mark = {"annotations": {"sless.io/test": uuid.uuid4().hex}}
    body: dict[str, Any] = {"spec": {"template": {"metadata": mark}}}
    await server.patch(DEPLOYMENTS, SYSTEM, "sless-gateway", body, manager=MANAGER)

    async def are_replaced() -> bool:
        present = await names_of(server)
        return bool(present) and not present & before

    await until(are_replaced, seconds=PATIENCE, pause=0.2)


async def answers(gateway: Address) -> bool:
    reader, writer = await asyncio.open_connection(*gateway)
    writer.write(CALL)
    try:
        return (await read_answer(reader, b"POST")).status == 200
    finally:
        writer.close()


async def test_a_gateway_that_is_replaced_loses_no_call(
    server: ApiServer, gateway: Address, hello: Hello
) -> None:
    await hello.run("v", pods=1)
    await hello.until_only("v", pods=1)
    await until(lambda: answers(gateway), pause=0.2)
    callers = Callers(gateway)
    async with asyncio.TaskGroup() as calling:
        for _ in range(CALLERS):
            calling.create_task(callers.call())
        await until(lambda: len(callers.statuses) > 200)
        await replace_gateways(server)
        so_far = len(callers.statuses)
        await until(lambda: len(callers.statuses) > so_far + 200)
        callers.stopped.set()
    assert set(callers.statuses) == {200}
    assert callers.connections >= 2 * CALLERS
