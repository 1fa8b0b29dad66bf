"""Retry, rebuild, rollback, cancel; and what builds and revisions tell of them."""

import asyncio
from collections.abc import Iterable

import httpx
import pytest

from sless.model.function import CANCEL_ANNOTATION, Ask
from sless.model.phase import Phase
from sless.naming import build_id, parse_s3_key
from sless.ports.runs import RunState
from tests.component.api.rig import HELLO, PATH, ApiRig, make_zip, reason_of

BUILDS = f"{PATH}/builds"
ABSENT = "0123456789ab"


async def test_a_retry_is_a_new_ask_for_the_same(rig: ApiRig, client: httpx.AsyncClient) -> None:
    first = await rig.upload(handler="main:app")
    before = (await rig.stored()).function.spec
    response = await client.post(f"{PATH}/retry")
    assert response.status_code == 202
    assert response.json()["generation"] == 2
    assert response.json()["build"] == first["build"]
    after = (await rig.stored()).function.spec
    assert (after.s3_key, after.handler) == (before.s3_key, before.handler)
    assert after.request != before.request
    assert rig.runs.looks[-1] == (HELLO, Ask(first["uid"], 2))


async def test_a_rebuild_copies_the_zip_under_a_new_key(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    first = await rig.upload()
    keys = [(await client.post(f"{PATH}/rebuild")).json()["s3Key"] for _ in range(2)]
    assert [parse_s3_key(key).rebuild for key in keys] == [1, 2]
    assert rig.objects.content[keys[1]] == rig.objects.content[first["s3Key"]]
    assert (await rig.stored()).function.spec.s3_key == keys[1]


async def test_rebuilds_at_once_take_a_key_each_or_say_why_not(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    await rig.upload()
    answers = await asyncio.gather(*(client.post(f"{PATH}/rebuild") for _ in range(5)))
    assert {answer.status_code for answer in answers} <= {202, 409}
    accepted = [answer.json()["s3Key"] for answer in answers if answer.status_code == 202]
    assert accepted
    assert len(set(accepted)) == len(accepted)


async def test_a_rebuild_without_its_zip_says_so(rig: ApiRig, client: httpx.AsyncClient) -> None:
    await rig.upload()
    rig.objects.content.clear()
    assert reason_of(await client.post(f"{PATH}/rebuild"), 409) == "UploadMissing"


async def test_a_rollback_asks_for_an_earlier_build_with_todays_settings(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    first = await rig.upload(runtime="node20", handler="main:old")
    await rig.answer()
    await rig.upload(make_zip({"main.py": "new"}), handler="main:new")
    await rig.answer()
    response = await client.post(f"{PATH}/rollback", json={"build": first["build"]})
    assert response.status_code == 202
    assert response.json()["generation"] == 3
    spec = (await rig.stored()).function.spec
    assert (spec.s3_key, spec.runtime, spec.handler) == (first["s3Key"], "node20", "main:new")
    again = await client.post(f"{PATH}/rollback", json={"build": first["build"]})
    assert reason_of(again, 409) == "NothingToDo"


async def test_a_rollback_needs_a_build_with_an_image(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    first = await rig.upload()
    await rig.answer(Phase.FAILED)
    await rig.upload(make_zip({"main.py": "new"}))
    failed = await client.post(f"{PATH}/rollback", json={"build": first["build"]})
    assert reason_of(failed, 409) == "NothingToDo"
    unknown = await client.post(f"{PATH}/rollback", json={"build": ABSENT})
    assert reason_of(unknown, 404) == "BuildNotFound"


@pytest.mark.parametrize("body", [{}, {"build": 7}, {"build": "x", "more": 1}, []])
async def test_a_rollback_to_nothing_is_refused(
    rig: ApiRig, client: httpx.AsyncClient, body: object
) -> None:
    await rig.upload()
    assert reason_of(await client.post(f"{PATH}/rollback", json=body), 400) == "InvalidSetting"


async def test_a_build_id_that_is_none_is_refused(rig: ApiRig, client: httpx.AsyncClient) -> None:
    await rig.upload()
    response = await client.post(f"{PATH}/rollback", json={"build": "latest"})
    assert reason_of(response, 400) == "InvalidName"
    assert reason_of(await client.get(f"{BUILDS}/latest"), 400) == "InvalidName"


async def test_a_cancel_names_the_present_ask_and_is_none_itself(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    build = (await rig.upload())["build"]
    response = await client.post(f"{BUILDS}/{build}/cancel")
    assert response.status_code == 202
    assert response.json()["generation"] == 1
    function = (await rig.stored()).function
    assert function.generation == 1
    assert function.annotations[CANCEL_ANNOTATION] == "1"
    assert function.cancel_wanted
    assert rig.runs.looks[-1] == (HELLO, function.ask)


async def test_a_cancel_of_what_has_ended_comes_too_late(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    build = (await rig.upload())["build"]
    await rig.answer()
    assert reason_of(await client.post(f"{BUILDS}/{build}/cancel"), 409) == "CancelTooLate"
    assert not (await rig.stored()).function.annotations


async def test_a_cancel_of_another_build_is_refused(rig: ApiRig, client: httpx.AsyncClient) -> None:
    old = (await rig.upload())["build"]
    await rig.upload(make_zip({"main.py": "new"}))
    assert reason_of(await client.post(f"{BUILDS}/{old}/cancel"), 404) == "BuildNotFound"


@pytest.mark.parametrize("act", ["retry", "rebuild", "rollback", f"builds/{ABSENT}/cancel"])
async def test_acts_on_a_function_that_is_not_there(client: httpx.AsyncClient, act: str) -> None:
    response = await client.post(f"{PATH}/{act}", json={"build": ABSENT})
    assert reason_of(response, 404) == "FunctionNotFound"


# builds


def generations(page: httpx.Response) -> Iterable[int]:
    return [item["generation"] for item in page.json()["items"]]


async def test_builds_are_listed_newest_first_by_pages(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    for _ in range(12):
        await rig.upload()
        await rig.answer()
    await rig.upload()
    seen: list[int] = []
    after = ""
    for _ in range(5):
        page = await client.get(BUILDS, params={"limit": 3, "after": after})
        seen += generations(page)
        after = page.json()["next"]
    assert seen == list(range(13, 0, -1))
    assert after == ""


async def test_a_page_of_one_leads_on_from_a_build_under_way(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    await rig.upload()
    await rig.answer()
    await rig.upload()
    first = await client.get(BUILDS, params={"limit": 1})
    assert generations(first) == [2]
    second = await client.get(BUILDS, params={"limit": 1, "after": first.json()["next"]})
    assert (generations(second), second.json()["next"]) == ([1], "")


async def test_a_page_reads_its_own_outcomes_alone(rig: ApiRig, client: httpx.AsyncClient) -> None:
    for _ in range(5):
        await rig.upload()
        await rig.answer()
    uid = (await rig.stored()).function.uid
    for generation in (1, 2):
        rig.objects.content[f"outcomes/default/hello/{uid}/{generation}.json"] = b"rubbish"
    assert generations(await client.get(BUILDS, params={"limit": 3})) == [5, 4, 3]
    page = await client.get(BUILDS, params={"limit": 3, "after": "3"})
    assert reason_of(page, 500) == "InternalError"


async def test_an_answered_build_tells_what_its_outcome_tells(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    accepted = await rig.upload()
    build = accepted["build"]
    await rig.answer(build_run_id="run-b", attempts=2)
    response = await client.get(f"{BUILDS}/{build}")
    assert response.json() == {
        "id": build,
        "generation": 1,
        "phase": "Ready",
        "reason": "Ready",
        "message": "It is Ready.",
        "attempts": 2,
        "steps": [
            {
                "name": "install",
                "startedAt": "2030-01-01T00:00:01Z",
                "endedAt": "2030-01-01T00:00:02Z",
                "reason": "",
            }
        ],
        "image": f"default/hello@sha256:{build}",
        "s3Key": accepted["s3Key"],
        "runtime": "python3.11",
        "workflowId": f"build/default/hello/{build}",
        "runId": "run-b",
        "temporalUrl": rig.runs.url(f"build/default/hello/{build}", "run-b"),
        "startedAt": "2030-01-01T00:00:01Z",
        "endedAt": "2030-01-01T00:00:03Z",
    }


async def test_an_ask_that_needed_no_build_points_at_the_functions_run(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    build = (await rig.upload())["build"]
    await rig.answer()
    body = (await client.get(f"{BUILDS}/{build}")).json()
    assert (body["workflowId"], body["runId"]) == ("function/default/hello", "run-f")


async def test_a_build_under_way_is_told_by_its_run(rig: ApiRig, client: httpx.AsyncClient) -> None:
    accepted = await rig.upload()
    build = accepted["build"]
    path = f"{BUILDS}/{build}"
    assert (await client.get(path)).json()["phase"] == "Pending"
    run = rig.runs.start_build(HELLO, build, ask=Ask(accepted["uid"], 1))
    rig.runs.tell(run.workflow_id, phase=Phase.BUILDING, message="Attempt 2.", attempts=2)
    body = (await client.get(path)).json()
    assert (body["phase"], body["message"], body["attempts"]) == ("Building", "Attempt 2.", 2)
    assert (body["workflowId"], body["runId"]) == (run.workflow_id, run.run_id)
    assert body["startedAt"]
    assert body["endedAt"] == ""


async def test_a_run_that_says_ready_has_not_ended_without_an_outcome(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    accepted = await rig.upload()
    run = rig.runs.start_build(HELLO, accepted["build"], ask=Ask(accepted["uid"], 1))
    rig.runs.tell(run.workflow_id, phase=Phase.READY)
    rig.runs.end(run.workflow_id)
    body = (await client.get(f"{BUILDS}/{accepted['build']}")).json()
    assert body["phase"] == "Deploying"


async def test_a_build_that_began_for_an_older_ask_goes_on_for_this_one(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    accepted = await rig.upload()
    run = rig.runs.start_build(HELLO, accepted["build"], ask=Ask(accepted["uid"], 1))
    rig.runs.tell(run.workflow_id, phase=Phase.BUILDING)
    await rig.upload(handler="main:app")
    body = (await client.get(f"{BUILDS}/{accepted['build']}")).json()
    assert (body["generation"], body["phase"]) == (2, "Building")


async def test_a_run_of_a_deleted_namesake_tells_nothing(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    accepted = await rig.upload()
    run = rig.runs.start_build(HELLO, accepted["build"], ask=Ask("another-uid", 1))
    rig.runs.tell(run.workflow_id, phase=Phase.BUILDING)
    body = (await client.get(f"{BUILDS}/{accepted['build']}")).json()
    assert body["phase"] == "Pending"


async def test_the_watchers_word_is_taken_when_temporal_is_away(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    accepted = await rig.upload()
    status = {"observedGeneration": 1, "phase": "Pending", "reason": "UploadMissing"}
    await rig.functions.write_status("default", "hello", uid=accepted["uid"], status=status)
    rig.runs.unavailable = True
    body = (await client.get(f"{BUILDS}/{accepted['build']}")).json()
    assert (body["phase"], body["reason"]) == ("Pending", "UploadMissing")


async def test_builds_of_a_deleted_namesake_are_not_listed(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    await rig.upload()
    await rig.answer(Phase.FAILED)
    await client.delete(PATH)
    await rig.upload(make_zip({"main.py": "new"}))
    assert generations(await client.get(BUILDS)) == [1]
    assert (await client.get(BUILDS)).json()["items"][0]["phase"] == "Pending"


async def test_an_unknown_build_is_not_found(rig: ApiRig, client: httpx.AsyncClient) -> None:
    await rig.upload()
    await rig.answer()
    for path in (f"{BUILDS}/{ABSENT}", f"{BUILDS}/{ABSENT}/log"):
        assert reason_of(await client.get(path), 404) == "BuildNotFound"


async def test_revisions_are_what_was_ready_once(rig: ApiRig, client: httpx.AsyncClient) -> None:
    uid = (await rig.upload())["uid"]
    await rig.answer()
    await rig.upload(make_zip({"main.py": "broken"}))
    await rig.answer(Phase.FAILED)
    third = await rig.upload(make_zip({"main.py": "new"}))
    await rig.answer()
    status = {"servingGeneration": 1}
    await rig.functions.write_status("default", "hello", uid=uid, status=status)
    body = (await client.get(f"{PATH}/revisions")).json()
    assert [(item["generation"], item["serving"]) for item in body["items"]] == [
        (3, False),
        (1, True),
    ]
    assert body["items"][0] == {
        "revision": "rev000000003",
        "build": third["build"],
        "image": f"default/hello@sha256:{build_id(third['s3Key'])}",
        "generation": 3,
        "readyAt": "2030-01-01T00:00:03Z",
        "serving": False,
    }
    page = (await client.get(f"{PATH}/revisions", params={"limit": 1})).json()
    assert page["next"] == "3"
    rest = (await client.get(f"{PATH}/revisions", params={"limit": 1, "after": "3"})).json()
    assert [item["generation"] for item in rest["items"]] == [1]


async def test_closed_runs_of_older_asks_are_not_the_present_one(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    accepted = await rig.upload()
    run = rig.runs.start_build(HELLO, accepted["build"], ask=Ask(accepted["uid"], 1))
    rig.runs.tell(run.workflow_id, phase=Phase.FAILED, reason="BuildFailed")
    rig.runs.end(run.workflow_id, RunState.FAILED)
    await rig.answer(Phase.FAILED)
    rig.runs.end("function/default/hello")
    await client.post(f"{PATH}/retry")
    body = (await client.get(f"{BUILDS}/{accepted['build']}")).json()
    assert (body["generation"], body["phase"], body["reason"]) == (2, "Pending", "")
