"""Functions, their runner and a real Envoy: requests follow what is ready."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from sless.adapters.sqlite.routes import find_route
from sless.local.runner.gateway_role import GatewayRole
from sless.model.routed import Routed
from tests.component.contexts import HELLO
from tests.component.deploying import Deploying
from tests.component.gateway_rig import RunningGateway, running_gateway
from tests.component.runner_home import DEADLINE, running

pytestmark = pytest.mark.real


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[RunningGateway]:
    (tmp_path / "envoy").mkdir()
    with running_gateway(tmp_path / "envoy") as made:
        yield made


@pytest.fixture
async def deploying(tmp_path: Path, gateway: RunningGateway) -> AsyncIterator[Deploying]:
    async with running(tmp_path) as home:
        role = asyncio.create_task(GatewayRole(home.database, gateway.files).run())
        yield Deploying(home)
        role.cancel()


async def _routed(deploying: Deploying, *, generation: int, port: int = 0) -> Routed:
    """The route once it serves that generation, from another port than that."""
    async with asyncio.timeout(DEADLINE):
        while True:
            row = await deploying.home.database.read(find_route, "team", deploying.name)
            if row and row.generation == generation and row.port != port:
                return row
            await asyncio.sleep(0.01)


async def _unrouted(deploying: Deploying) -> None:
    async with asyncio.timeout(DEADLINE):
        while True:
            if not await deploying.home.database.read(find_route, "team", deploying.name):
                return
            await asyncio.sleep(0.01)


async def _call(gateway: RunningGateway, client: httpx.AsyncClient) -> tuple[int, str]:
    answer = await client.get(f"http://127.0.0.1:{gateway.port}/fn/team/thumb/")
    return answer.status_code, answer.text


async def test_no_request_is_lost_while_a_revision_is_replaced(
    deploying: Deploying, gateway: RunningGateway
) -> None:
    await deploying.deploy({"handler.py": HELLO})
    await _routed(deploying, generation=1)
    seen: list[tuple[int, str]] = []
    async with httpx.AsyncClient(trust_env=False, timeout=DEADLINE) as client:

        async def keep_calling() -> None:
            while True:
                seen.append(await _call(gateway, client))

        calling = asyncio.create_task(keep_calling())
        await deploying.deploy({"handler.py": HELLO.replace("hello", "bye")})
        new = await _routed(deploying, generation=2)
        await deploying.only(new.instance)
        calling.cancel()
        assert await _call(gateway, client) == (200, "bye")
    assert set(seen) == {(200, "hello"), (200, "bye")}
    # Once the new revision is routed, nobody gets the old one's answer again.
    assert sorted(seen, reverse=True) == seen


async def test_a_crashed_function_has_no_route_until_it_is_back(
    deploying: Deploying, gateway: RunningGateway
) -> None:
    await deploying.deploy({"handler.py": HELLO})
    route = await _routed(deploying, generation=1)
    os.kill((await deploying.ready()).pid, signal.SIGKILL)
    again = await _routed(deploying, generation=1, port=route.port)
    assert again.instance == route.instance
    async with httpx.AsyncClient(trust_env=False, timeout=DEADLINE) as client:
        assert await _call(gateway, client) == (200, "hello")
        await deploying.delete()
        await _unrouted(deploying)
        assert (await _call(gateway, client))[0] == 404
