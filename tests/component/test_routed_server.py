"""What a gateway tells over HTTP: what Envoy has taken, and whether it may start."""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic

import httpx
import pytest

from sless.cluster.board import Board, render_taken
from sless.cluster.routed_server import make_routed_server
from sless.gateway.route import Endpoint, Route
from sless.roots.serving import serve_until_told
from tests.fixtures.ports import free_port
from tests.fixtures.waiting import until

pytestmark = pytest.mark.real
LONG = 30
"""Seconds that nobody should have to wait."""
ENDPOINTS = (Endpoint("10.0.0.1", 8080), Endpoint("fd00::1", 8080))
FIRST = render_taken("1", [Route("team", "hello", "u", None, ENDPOINTS)])
SECOND = render_taken("2", [Route("team", "hello", "u", None)])


@pytest.fixture
async def board() -> Board:
    return Board()


@pytest.fixture
async def client(board: Board) -> AsyncIterator[httpx.AsyncClient]:
    port = free_port()
    server = make_routed_server(board, host="127.0.0.1", port=port)
    serving = asyncio.create_task(serve_until_told(server))
    await until(lambda: server.started)
    url = f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=LONG) as client:
        yield client
        started = monotonic()
        board.close()
        serving.cancel()
        await serving
        assert monotonic() - started < LONG / 2


async def test_a_gateway_is_ready_once_envoy_may_start(
    board: Board, client: httpx.AsyncClient
) -> None:
    assert (await client.get("/readyz")).status_code == 503
    board.written = True
    assert (await client.get("/readyz")).status_code == 200


async def test_what_is_routed_is_told_at_once(board: Board, client: httpx.AsyncClient) -> None:
    assert (await client.get("/routed")).status_code == 503
    board.tell(FIRST)
    routes = {"team/hello": ["10.0.0.1:8080", "[fd00::1]:8080"]}
    for query in ("", f"?after=0&wait={LONG}"):
        assert (await client.get(f"/routed{query}")).json() == {"version": "1", "routes": routes}


async def test_whoever_knows_it_waits_for_another(board: Board, client: httpx.AsyncClient) -> None:
    board.tell(FIRST)
    asking = asyncio.create_task(client.get("/routed", params={"after": "1", "wait": LONG}))
    assert (await client.get("/routed?after=1&wait=0.05")).json()["version"] == "1"
    board.tell(FIRST)
    assert (await client.get("/routed?after=1")).json()["version"] == "1"
    assert not asking.done()
    board.tell(SECOND)
    assert (await asking).json() == {"version": "2", "routes": {"team/hello": []}}


async def test_the_first_version_is_waited_for(board: Board, client: httpx.AsyncClient) -> None:
    asking = asyncio.create_task(client.get("/routed", params={"wait": LONG}))
    assert (await client.get("/routed?wait=0.05")).status_code == 503
    board.tell(FIRST)
    assert (await asking).json()["version"] == "1"


async def test_who_waits_is_let_go_at_the_end(board: Board, client: httpx.AsyncClient) -> None:
    board.tell(FIRST)
    asking = asyncio.create_task(client.get("/routed", params={"after": "1", "wait": LONG}))
    # It was heard by then.
    assert (await client.get("/routed?after=1&wait=0.05")).status_code == 200
    board.close()
    assert (await asking).json()["version"] == "1"


@pytest.mark.parametrize("wait", ["soon", "-1", "nan"])
async def test_what_is_no_time_is_refused(client: httpx.AsyncClient, wait: str) -> None:
    answer = await client.get("/routed", params={"wait": wait})
    assert (answer.status_code, answer.text) == (400, "wait is a number of seconds\n")
