"""Builds that a newer ask superseded, among those that have an outcome."""

from typing import Any

import httpx
import pytest

from sless.errors import BuildNotFound
from sless.model.function import Ask
from sless.model.phase import Phase
from sless.naming import build_id
from sless.ports.runs import RunState
from tests.component.api.rig import HELLO, PATH, ApiRig, make_zip, reason_of

BUILDS = f"{PATH}/builds"


async def superseded(rig: ApiRig, code: str, **ask: Any) -> dict[str, Any]:
    """An upload whose build a newer ask ends; what its 202 said."""
    answer = await rig.upload(make_zip({"main.py": code}))
    run = rig.runs.start_build(
        HELLO,
        answer["build"],
        ask=Ask(**{"uid": answer["uid"], "generation": answer["generation"], **ask}),
        s3_key=answer["s3Key"],
    )
    rig.runs.tell(run.workflow_id, phase=Phase.SUPERSEDED, reason="Superseded", attempts=1)
    rig.runs.end(run.workflow_id, RunState.CANCELLED)
    return answer


async def answered(rig: ApiRig) -> dict[str, Any]:
    answer = await rig.upload()
    await rig.answer()
    return answer


def listed(page: httpx.Response) -> list[tuple[int, str]]:
    return [(item["generation"], item["phase"]) for item in page.json()["items"]]


async def test_a_superseded_build_is_listed_as_such(rig: ApiRig, client: httpx.AsyncClient) -> None:
    await answered(rig)
    lost = await superseded(rig, "slow")
    await answered(rig)
    page = await client.get(BUILDS)
    assert listed(page) == [(3, "Ready"), (2, "Superseded"), (1, "Ready")]
    item = page.json()["items"][1]
    assert (item["id"], item["s3Key"], item["runtime"]) == (
        lost["build"],
        lost["s3Key"],
        "python3.11",
    )
    assert (item["reason"], item["message"]) == ("Superseded", "A newer ask took its place.")
    assert item["workflowId"] == lost["workflowId"]
    assert item["temporalUrl"].endswith("/timeline")
    assert item["startedAt"] < item["endedAt"]
    assert (await client.get(f"{BUILDS}/{lost['build']}")).json() == item


async def test_pages_hold_them_in_their_place(rig: ApiRig, client: httpx.AsyncClient) -> None:
    for number in range(3):
        await superseded(rig, f"a{number}")
        await superseded(rig, f"b{number}")
        await answered(rig)
    await superseded(rig, "c")
    await rig.upload()
    for limit in (1, 2, 3, 4, 11, 12):
        seen: list[tuple[int, str]] = []
        after = ""
        for _ in range(12):
            params: dict[str, str | int] = {"limit": limit, "after": after}
            page = await client.get(BUILDS, params=params)
            assert len(page.json()["items"]) <= limit
            seen += listed(page)
            after = page.json()["next"]
            if not after:
                break
        assert [generation for generation, _ in seen] == list(range(11, 0, -1)), limit
        assert [phase for _, phase in seen[:3]] == ["Pending", "Superseded", "Ready"]


async def test_an_ask_that_was_overtaken_before_its_build_is_not_listed(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    await rig.upload()
    await answered(rig)
    page = await client.get(BUILDS, params={"limit": 1})
    assert listed(page) == [(2, "Ready")]
    last = await client.get(BUILDS, params={"limit": 1, "after": page.json()["next"]})
    assert last.json() == {"items": [], "next": ""}


async def test_temporal_is_asked_only_when_an_ask_was_overtaken(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    for _ in range(3):
        await answered(rig)
    await rig.upload()
    for limit in (1, 2, 20):
        await client.get(BUILDS, params={"limit": limit})
    assert rig.runs.lists == 0
    await rig.upload()
    await client.get(BUILDS, params={"limit": 1})
    assert rig.runs.lists == 0
    await client.get(BUILDS)
    assert rig.runs.lists == 1


async def test_without_temporal_the_others_are_listed(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    lost = await superseded(rig, "slow")
    await answered(rig)
    rig.runs.unavailable = True
    assert listed(await client.get(BUILDS)) == [(2, "Ready")]
    response = await client.get(f"{BUILDS}/{lost['build']}")
    assert reason_of(response, 404) == BuildNotFound.reason


async def test_an_outcome_tells_more_than_a_run(rig: ApiRig, client: httpx.AsyncClient) -> None:
    await answered(rig)
    await superseded(rig, "repair", generation=1)
    await answered(rig)
    assert listed(await client.get(BUILDS)) == [(3, "Ready"), (1, "Ready")]


@pytest.mark.parametrize(
    "s3_key", ["", "rubbish", f"functions/default/other/{'0' * 64}-python3.11.zip"]
)
async def test_a_run_that_a_hand_started_of_anything_is_passed_over(
    rig: ApiRig, client: httpx.AsyncClient, s3_key: str
) -> None:
    uid = (await rig.upload())["uid"]
    build = build_id(s3_key)
    run = rig.runs.start_build(HELLO, build, ask=Ask(uid, 1), s3_key=s3_key)
    rig.runs.tell(run.workflow_id, phase=Phase.SUPERSEDED)
    await answered(rig)
    assert listed(await client.get(BUILDS)) == [(2, "Ready")]
    assert reason_of(await client.get(f"{BUILDS}/{build}"), 404) == BuildNotFound.reason


async def test_a_deleted_namesake_s_are_not_listed(rig: ApiRig, client: httpx.AsyncClient) -> None:
    lost = await superseded(rig, "slow", uid="another")
    await answered(rig)
    assert listed(await client.get(BUILDS)) == [(2, "Ready")]
    response = await client.get(f"{BUILDS}/{lost['build']}")
    assert reason_of(response, 404) == BuildNotFound.reason
