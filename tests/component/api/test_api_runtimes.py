"""The runtimes on offer."""

import asyncio

import httpx

from tests.component.api.rig import ApiRig, make_zip, reason_of
from tests.fixtures.waiting import until

RUNTIMES = "/v1/runtimes"
CODE = "/v1/namespaces/default/functions/hello/code"


async def test_what_is_offered_is_what_an_upload_may_name(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    response = await client.get(RUNTIMES)
    assert response.status_code == 200
    items = response.json()["items"]
    assert items == [{"name": name, "missing": ""} for name in rig.options.runtimes]
    for item in items:
        params = {"runtime": item["name"], "deploy": "false"}
        assert (await client.put(CODE, content=make_zip(), params=params)).status_code == 201


async def test_what_the_machine_lacks_is_told_as_an_upload_is(rig: ApiRig) -> None:
    rig.restart(missing_runtimes={"node20": "Install Node 20."})
    async with rig.client() as client:
        items = (await client.get(RUNTIMES)).json()["items"]
        refused = await client.put(CODE, content=make_zip(), params={"runtime": "node20"})
    assert {item["name"]: item["missing"] for item in items if item["missing"]} == {
        "node20": refused.json()["detail"]
    }


async def test_it_waits_until_the_machine_is_known(rig: ApiRig) -> None:
    known, missing = asyncio.Event(), dict[str, str]()
    waiting = False

    async def wait() -> None:
        nonlocal waiting
        waiting = True
        await known.wait()

    rig.restart(missing_runtimes=missing, runtimes_known=wait)
    async with rig.client() as client:
        asked = asyncio.create_task(client.get(RUNTIMES))
        await until(lambda: waiting)
        missing["node20"] = "Install Node 20."
        known.set()
        items = (await asked).json()["items"]
    assert items[-1] == {"name": "node20", "missing": "Install Node 20."}


async def test_a_machine_that_is_never_known_holds_nobody_up(rig: ApiRig) -> None:
    rig.restart(runtimes_known=asyncio.Event().wait, runtimes_seconds=0.05)
    async with rig.client() as client:
        items = (await client.get(RUNTIMES)).json()["items"]
    assert [item["name"] for item in items] == list(rig.options.runtimes)


async def test_any_token_that_holds_may_ask(rig: ApiRig) -> None:
    async with rig.client("nothing-of-ours") as client:
        assert (await client.get(RUNTIMES)).status_code == 200
    async with rig.client(token="") as client:
        assert reason_of(await client.get(RUNTIMES), 401) == "Unauthenticated"
