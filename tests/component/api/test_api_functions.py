"""Functions over HTTP: reading, listing, patching, deleting."""

import asyncio

import httpx
import pytest

from sless.model.function import FunctionRef
from tests.component.api.rig import HELLO, PATH, ApiRig, make_zip, reason_of

LIST = "/v1/namespaces/default/functions"


async def test_a_function_is_its_manifest(rig: ApiRig, client: httpx.AsyncClient) -> None:
    await rig.upload(handler="main:app")
    stored = await rig.stored()
    response = await client.get(PATH)
    assert response.status_code == 200
    assert response.headers["etag"] == f'"{stored.function.resource_version}"'
    body = response.json()
    assert body["apiVersion"] == stored.manifest["apiVersion"]
    assert body["kind"] == "Function"
    assert body["metadata"]["uid"] == stored.function.uid
    assert body["metadata"]["creationTimestamp"]
    assert "managedFields" not in body["metadata"]
    assert body["spec"] == {
        "s3Key": stored.function.spec.s3_key,
        "runtime": "python3.11",
        "handler": "main:app",
        "command": [],
        "env": [],
        "request": stored.function.spec.request,
    }
    assert body["status"]["phase"] == ""


async def test_the_status_is_what_the_watcher_wrote(rig: ApiRig, client: httpx.AsyncClient) -> None:
    uid = (await rig.upload())["uid"]
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "Ready",
        "message": "",
        "observedGeneration": 1,
        "lastTransitionTime": "2030-01-01T00:00:00Z",
    }
    status = {"observedGeneration": 1, "phase": "Ready", "conditions": [condition]}
    await rig.functions.write_status("default", "hello", uid=uid, status=status)
    found = (await client.get(PATH)).json()["status"]
    assert found["phase"] == "Ready"
    assert found["observedGeneration"] == 1
    assert found["conditions"] == [condition]


async def test_functions_are_listed_by_pages(client: httpx.AsyncClient) -> None:
    zipped = make_zip()
    for name in ("c", "a", "b"):
        await client.put(f"{LIST}/{name}/code", content=zipped)
    await client.put("/v1/namespaces/other/functions/x/code", content=zipped)
    first = (await client.get(LIST, params={"limit": 2})).json()
    assert [item["metadata"]["name"] for item in first["items"]] == ["a", "b"]
    second = (await client.get(LIST, params={"limit": 2, "after": first["next"]})).json()
    assert [item["metadata"]["name"] for item in second["items"]] == ["c"]
    assert second["next"] == ""


@pytest.mark.parametrize("params", [{"limit": "0"}, {"limit": "x"}, {"after": "rubbish"}])
async def test_a_page_that_cannot_be_is_refused(
    client: httpx.AsyncClient, params: dict[str, str]
) -> None:
    assert reason_of(await client.get(LIST, params=params), 400) == "InvalidSetting"


# PATCH


async def test_a_patch_is_one_ask(rig: ApiRig, client: httpx.AsyncClient) -> None:
    await rig.upload(handler="main:app")
    patch = {"spec": {"env": [{"name": "B", "value": "1"}, {"name": "A", "value": "$(B)"}]}}
    response = await client.patch(PATH, json=patch)
    assert response.status_code == 202
    assert response.json()["generation"] == 2
    stored = await rig.stored()
    assert [each.name for each in stored.function.spec.env] == ["B", "A"]
    assert stored.function.spec.handler == "main:app"
    assert rig.runs.looks[-1] == (HELLO, stored.function.ask)
    assert response.headers["etag"] == f'"{stored.function.resource_version}"'


@pytest.mark.parametrize(
    "spec",
    [
        {"env": {"A": "1", "B": "2"}},
        {"env": {"B": "2", "A": "1"}},
        {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
        {"handler": "main:app"},
        {"command": []},
        {"command": None},
        {},
    ],
)
async def test_equal_settings_ask_for_nothing(
    rig: ApiRig, client: httpx.AsyncClient, spec: dict[str, object]
) -> None:
    await rig.upload(handler="main:app")
    await client.patch(PATH, json={"spec": {"env": {"A": "1", "B": "2"}}})
    before = await rig.stored()
    looks = len(rig.runs.looks)
    response = await client.patch(PATH, json={"spec": spec})
    assert response.status_code == 200
    assert "nothing was asked" in response.json()["warnings"][0]
    assert await rig.stored() == before
    assert len(rig.runs.looks) == looks


@pytest.mark.parametrize("empty", [None, [], {}])
async def test_an_empty_environment_is_none(
    rig: ApiRig, client: httpx.AsyncClient, empty: object
) -> None:
    await rig.upload()
    await client.patch(PATH, json={"spec": {"env": {"A": "1"}}})
    assert (await client.patch(PATH, json={"spec": {"env": empty}})).status_code == 202
    assert "env" not in (await rig.stored()).manifest["spec"]


async def test_a_handler_is_replaced_by_a_command_in_one_ask(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    await rig.upload(handler="main:app")
    alone = await client.patch(PATH, json={"spec": {"command": ["python", "x.py"]}})
    assert reason_of(alone, 400) == "InvalidSetting"
    patch = {"spec": {"command": ["python", "x.py"], "handler": None}}
    assert (await client.patch(PATH, json=patch)).status_code == 202
    spec = (await rig.stored()).function.spec
    assert (spec.handler, spec.command) == (None, ("python", "x.py"))


async def test_a_stored_zip_is_asked_for_by_its_key(rig: ApiRig, client: httpx.AsyncClient) -> None:
    await rig.upload()
    params = {"deploy": "false", "runtime": "node20"}
    content = make_zip({"index.js": "1"})
    key = (await client.put(f"{PATH}/code", content=content, params=params)).json()["s3Key"]
    response = await client.patch(PATH, json={"spec": {"s3Key": key}})
    assert (response.status_code, response.json()["warnings"]) == (202, [])
    spec = (await rig.stored()).function.spec
    assert (spec.s3_key, spec.runtime) == (key, "node20")


async def test_a_key_without_its_zip_is_taken_with_a_warning(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    await rig.upload()
    key = f"functions/default/hello/{'a' * 64}-python3.11.zip"
    response = await client.patch(PATH, json={"spec": {"s3Key": key}})
    assert response.status_code == 202
    assert "not there yet" in response.json()["warnings"][0]


@pytest.mark.parametrize(
    "key", [f"functions/default/other/{'a' * 64}-python3.11.zip", "x", "", "../../etc/passwd"]
)
async def test_anothers_key_is_refused(rig: ApiRig, client: httpx.AsyncClient, key: str) -> None:
    await rig.upload()
    assert reason_of(await client.patch(PATH, json={"spec": {"s3Key": key}}), 400) == "InvalidKey"


@pytest.mark.parametrize(
    ("content", "status", "reason"),
    [
        (b"", 400, "InvalidSetting"),
        (b"[]", 400, "InvalidSetting"),
        (b"{}", 400, "InvalidSetting"),
        (b'{"spec": {"runtime": "node20"}}', 400, "InvalidSetting"),
        (b'{"spec": {"request": "x"}}', 400, "InvalidSetting"),
        (b'{"metadata": {"labels": {}}, "spec": {}}', 400, "InvalidSetting"),
        (b'{"status": {}}', 400, "InvalidSetting"),
        (b'{"spec": {"env": {"PORT": "1"}}}', 400, "InvalidSetting"),
        (b'{"spec": {"env": {"A": "' + b"x" * 2_000_000 + b'"}}}', 413, "RequestTooLarge"),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_a_patch_that_cannot_be_changes_nothing(
    rig: ApiRig, client: httpx.AsyncClient, content: bytes, status: int, reason: str
) -> None:
    await rig.upload()
    before = await rig.stored()
    headers = {"Content-Type": "application/merge-patch+json"}
    response = await client.patch(PATH, content=content, headers=headers)
    assert reason_of(response, status) == reason
    assert await rig.stored() == before


@pytest.mark.parametrize(
    ("spec", "detail"),
    [
        ({"handlr": "x"}, "spec.handlr: there is no such field."),
        ({"env": [{"name": "A"}]}, "spec.env.0.value: field required."),
        ({"env": {"A": 1}}, "spec.env.A: input should be a valid string."),
        ({"env": 7}, "spec.env: input should be a valid list."),
    ],
)
async def test_a_mistake_is_named_where_it_is(
    client: httpx.AsyncClient, spec: dict[str, object], detail: str
) -> None:
    assert (await client.patch(PATH, json={"spec": spec})).json()["detail"] == detail


async def test_a_patch_of_another_media_type_is_refused(client: httpx.AsyncClient) -> None:
    response = await client.patch(PATH, content=b"{}", headers={"Content-Type": "text/plain"})
    assert reason_of(response, 415) == "ContentTypeUnsupported"


async def test_if_match_lets_one_of_two_patches_through(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    await rig.upload()
    tag = (await client.get(PATH)).headers["etag"]
    patches = [{"spec": {"env": {"A": value}}} for value in ("1", "2")]
    answers = await asyncio.gather(
        *(client.patch(PATH, json=patch, headers={"If-Match": tag}) for patch in patches)
    )
    assert sorted(answer.status_code for answer in answers) == [202, 412]


async def test_patches_at_once_without_if_match_all_count(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    await rig.upload()
    patches = [{"spec": {"env": {"A": str(n)}}} for n in range(10)]
    answers = await asyncio.gather(*(client.patch(PATH, json=patch) for patch in patches))
    assert {answer.status_code for answer in answers} == {202}
    assert (await rig.stored()).function.generation == 11


@pytest.mark.parametrize("tag", ['"1", "2"', "a b", '""'])
async def test_an_entity_tag_that_is_none_is_refused(client: httpx.AsyncClient, tag: str) -> None:
    response = await client.patch(PATH, json={"spec": {}}, headers={"If-Match": tag})
    assert reason_of(response, 400) == "InvalidSetting"


# DELETE


async def test_a_deleted_function_is_gone_and_its_workflow_told(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    await rig.upload()
    response = await client.delete(PATH)
    assert (response.status_code, response.content) == (204, b"")
    assert rig.runs.looks[-1] == (HELLO, None)
    assert reason_of(await client.get(PATH), 404) == "FunctionNotFound"
    assert reason_of(await client.delete(PATH), 404) == "FunctionNotFound"
    assert (await rig.upload())["generation"] == 1


async def test_a_delete_of_another_version_is_refused(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    await rig.upload()
    tag = (await client.get(PATH)).headers["etag"]
    await rig.upload()
    assert reason_of(await client.delete(PATH, headers={"If-Match": tag}), 412) == "VersionConflict"
    assert await rig.functions.find("default", "hello")


# whose it is

SEVERAL = [
    ("GET", PATH),
    ("PATCH", PATH),
    ("DELETE", PATH),
    ("PUT", f"{PATH}/code"),
    ("POST", f"{PATH}/retry"),
    ("POST", f"{PATH}/rebuild"),
    ("POST", f"{PATH}/rollback"),
    ("GET", f"{PATH}/builds"),
    ("GET", f"{PATH}/builds/0123456789ab"),
    ("GET", f"{PATH}/builds/0123456789ab/log"),
    ("POST", f"{PATH}/builds/0123456789ab/cancel"),
    ("GET", f"{PATH}/revisions"),
]
FOR_EVERYBODY = ("GET", "/v1/runtimes")
BODIES = {"PATCH": b'{"spec": {}}', "POST": b'{"build": "0123456789ab"}', "PUT": b"zip"}


async def answer_without_id(client: httpx.AsyncClient, method: str, path: str) -> bytes:
    content = BODIES.get(method, b"")
    headers = {"X-Request-Id": "same"}
    if method in {"PATCH", "POST"}:
        headers["Content-Type"] = "application/json"
    response = await client.request(method, path, content=content, headers=headers)
    assert reason_of(response, 404) == "FunctionNotFound"
    lines = sorted(f"{key}: {value}" for key, value in response.headers.items())
    return "\n".join(lines).encode() + response.content


@pytest.mark.parametrize(("method", "path"), SEVERAL)
async def test_anothers_function_looks_like_none(rig: ApiRig, method: str, path: str) -> None:
    async with rig.client("mine") as stranger:
        absent = await answer_without_id(stranger, method, path)
        await rig.upload()
        assert await answer_without_id(stranger, method, path) == absent
    if method != "PUT":
        await rig.functions.delete("default", "hello")
        async with rig.client("default") as owner:
            assert await answer_without_id(owner, method, path) == absent


async def test_every_route_under_v1_is_among_those_tried(rig: ApiRig) -> None:
    paths = rig.app.openapi()["paths"]
    found = {
        (method.upper(), path.format(ns="default", name="hello", build="0123456789ab"))
        for path, methods in paths.items()
        for method in methods
        if path.startswith("/v1")
    }
    assert found == {*SEVERAL, ("GET", LIST), FOR_EVERYBODY}


async def test_a_namespace_of_anothers_is_not_listed(rig: ApiRig) -> None:
    await rig.upload()
    async with rig.client("mine") as stranger:
        assert reason_of(await stranger.get(LIST), 404) == "RouteNotFound"
        assert (await stranger.get("/v1/namespaces/mine/functions")).json()["items"] == []


async def test_a_namespace_of_ones_own_is_served(rig: ApiRig) -> None:
    async with rig.client("mine") as owner:
        path = "/v1/namespaces/mine/functions/hello/code"
        assert (await owner.put(path, content=make_zip())).status_code == 202
    assert await rig.functions.find("mine", "hello")
    assert rig.runs.looks[0][0] == FunctionRef("mine", "hello")
