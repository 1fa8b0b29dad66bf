"""What the home warns of, in the answer about one function."""

from datetime import UTC, datetime, timedelta

import httpx

from sless.model.warning import HomeWarning
from sless.naming import build_id
from tests.component.api.rig import HELLO, PATH, ApiRig

LIST = "/v1/namespaces/default/functions"


def warning(*, ago: int = 0) -> HomeWarning:
    seen = (datetime.now(UTC) - timedelta(seconds=ago)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return HomeWarning("pod fn-hello-5d-x2x4z", "FailedScheduling", "No node takes it.", 3, seen)


async def test_a_function_that_is_well_has_no_warnings(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    await rig.upload()
    assert (await client.get(PATH)).json()["warnings"] == []


async def test_warnings_are_part_of_one_functions_answer(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    await rig.upload()
    before = (await client.get(PATH)).headers["etag"]
    told = warning()
    rig.warnings.warn(HELLO, told)
    response = await client.get(PATH)
    assert response.json()["warnings"] == [
        {
            "about": told.about,
            "reason": told.reason,
            "message": told.message,
            "count": 3,
            "lastSeen": told.last_seen,
        }
    ]
    assert response.headers["etag"] == before
    assert "warnings" not in (await client.get(LIST)).json()["items"][0]


async def test_they_are_asked_for_with_the_present_build(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    await rig.upload()
    await client.get(PATH)
    key = (await rig.stored()).function.spec.s3_key
    assert rig.warnings.asked == [(HELLO, build_id(key))]


async def test_what_another_of_that_name_went_through_is_not_told(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    rig.warnings.warn(HELLO, warning(ago=10))
    await rig.upload()
    assert (await client.get(PATH)).json()["warnings"] == []


async def test_an_answer_does_without_them(rig: ApiRig, client: httpx.AsyncClient) -> None:
    await rig.upload()
    rig.warnings.warn(HELLO, warning())
    rig.warnings.unavailable = True
    response = await client.get(PATH)
    assert response.status_code == 200
    assert response.json()["metadata"]["name"] == "hello"
    assert response.json()["warnings"] is None


async def test_an_answer_does_not_wait_for_them(rig: ApiRig) -> None:
    await rig.upload()
    rig.restart(warning_seconds=0.05)
    rig.warnings.silent = True
    async with rig.client() as client:
        assert (await client.get(PATH)).json()["warnings"] is None


async def test_nobody_asks_for_a_function_that_is_not_there(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    assert (await client.get(PATH)).status_code == 404
    assert rig.warnings.asked == []
