"""What surrounds every route: identity, problems, request ids, health, metrics, OpenAPI."""

import asyncio
import json
import re
from datetime import timedelta
from typing import Any

import httpx
import pytest
import structlog
from fastapi import FastAPI
from structlog.testing import capture_logs

from api.app import create_app
from api.problems import TITLES, title_of
from api.services import Ports
from sless.errors import SlessError, Transient, leaves
from sless.tokens import Identity
from tests.component.api.rig import PATH, ApiRig, make_zip, reason_of

# identity


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "Bearer rubbish",
        "bearer a.b.c",
        "Bearer " + "x" * 10_000,
    ],
)
async def test_without_a_token_that_holds_nothing_is_told(rig: ApiRig, header: str | None) -> None:
    await rig.upload()
    headers = {} if header is None else {"Authorization": header}
    async with rig.client(token="") as client:
        response = await client.get(PATH, headers=headers)
    assert reason_of(response, 401) == "Unauthenticated"
    assert response.headers["www-authenticate"].startswith("Bearer ")


async def test_two_tokens_are_refused(rig: ApiRig) -> None:
    headers = [("Authorization", f"Bearer {rig.token()}")] * 2
    async with rig.client(token="") as client:
        response = await client.get(PATH, headers=headers)
    assert reason_of(response, 401) == "Unauthenticated"


async def test_an_expired_token_says_so(rig: ApiRig) -> None:
    async with rig.client(token=rig.token(ttl=timedelta(hours=-1))) as client:
        response = await client.get(PATH)
    assert reason_of(response, 401) == "Unauthenticated"
    assert "expired" in response.json()["detail"]


@pytest.mark.parametrize(
    "path", ["/v1", "/v1/", "/v1/nothing", f"{PATH}/code", "/v1x", "/v1/namespaces/default"]
)
async def test_every_path_under_v1_asks_for_a_token(rig: ApiRig, path: str) -> None:
    async with rig.client(token="") as client:
        assert reason_of(await client.get(path), 401) == "Unauthenticated"


async def test_a_token_is_asked_for_before_the_body_is_read(rig: ApiRig) -> None:
    async with rig.client(token="") as client:
        response = await client.put(f"{PATH}/code", content=make_zip())
    assert reason_of(response, 401) == "Unauthenticated"
    assert rig.objects.content == {}


async def test_another_verifier_can_take_the_place(rig: ApiRig) -> None:
    class Trusting:
        async def verify(self, token: str) -> Identity:
            return Identity(token, ("default",))

    ports = Ports(rig.functions, rig.objects, rig.runs, Trusting(), rig.warnings)
    rig.app = create_app(ports, rig.options)
    async with rig.client(token="anyone") as client:
        assert reason_of(await client.get(PATH), 404) == "FunctionNotFound"


# problems


def test_every_error_of_the_tree_has_a_title_and_a_status() -> None:
    for leaf in leaves():
        assert title_of(leaf)
        assert 400 <= leaf.status <= 599
        assert leaf.reason == leaf.__name__
    used = {branch for leaf in leaves() for branch in TITLES if issubclass(leaf, branch)}
    assert used == set(TITLES)


@pytest.mark.parametrize("leaf", leaves(), ids=lambda leaf: leaf.reason)
async def test_every_error_is_answered_as_its_problem(rig: ApiRig, leaf: type[SlessError]) -> None:
    @rig.app.get("/raise")
    async def fail() -> None:
        raise leaf("It went wrong.")

    async with rig.client() as client:
        response = await client.get("/raise")
    assert reason_of(response, leaf.status) == leaf.reason
    assert response.json()["detail"] == "It went wrong."
    assert ("retry-after" in response.headers) is issubclass(leaf, Transient)


async def test_a_defect_tells_an_id_and_no_more(rig: ApiRig) -> None:

    @rig.app.get("/defect")
    async def fail() -> None:
        raise RuntimeError("secret inner state")

    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines:
        async with rig.client() as client:
            response = await client.get("/defect", headers={"X-Request-Id": "mine-1"})
    assert reason_of(response, 500) == "InternalError"
    assert "secret" not in response.text
    assert "mine-1" in response.json()["detail"]
    told = next(line for line in lines if line["log_level"] == "error")
    assert (told["exc_info"], told["request_id"]) == (True, "mine-1")


async def test_what_is_not_there_is_a_problem(client: httpx.AsyncClient) -> None:
    assert reason_of(await client.get("/nothing"), 404) == "RouteNotFound"
    assert reason_of(await client.get(f"{PATH}/nothing"), 404) == "RouteNotFound"
    assert reason_of(await client.get("/docs"), 404) == "RouteNotFound"


async def test_a_method_that_is_not_taken_is_a_problem(client: httpx.AsyncClient) -> None:
    response = await client.post(PATH)
    assert reason_of(response, 405) == "MethodNotAllowed"
    assert response.headers["allow"] == "DELETE, GET, PATCH"
    assert reason_of(await client.request("BREW", f"{PATH}/code"), 405) == "MethodNotAllowed"


# request ids


@pytest.mark.parametrize("given", ["abc", "A.b_c-9", "x" * 64])
async def test_a_sane_request_id_is_taken_over(client: httpx.AsyncClient, given: str) -> None:
    response = await client.get("/healthz", headers={"X-Request-Id": given})
    assert response.headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", "a\tb", "<script>"])
async def test_another_is_replaced(client: httpx.AsyncClient, given: str) -> None:
    response = await client.get("/healthz", headers={"X-Request-Id": given})
    assert re.fullmatch("[0-9a-f]{32}", response.headers["x-request-id"])


async def test_every_line_of_log_has_the_request_id_and_no_token(rig: ApiRig) -> None:
    rig.runs.unavailable = True
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines:
        async with rig.client() as client:
            headers = {"X-Request-Id": "mine-2"}
            await client.put(f"{PATH}/code", content=make_zip(), headers=headers)
    assert [line["event"] for line in lines] == ["look is left to the watcher", "request"]
    assert {line["request_id"] for line in lines} == {"mine-2"}
    assert lines[-1]["sub"] == "ann"
    assert rig.token()[:20] not in json.dumps(lines)


# health, metrics, description


async def test_health_and_readiness_need_no_token(rig: ApiRig) -> None:
    async with rig.client(token="") as client:
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        response = await client.get("/readyz")
    assert response.status_code == 200
    assert response.json() == {
        "ready": True,
        "checks": {"objects": "ok", "functions": "ok", "workflows": "ok"},
    }


async def test_readiness_names_what_is_away(rig: ApiRig, client: httpx.AsyncClient) -> None:
    rig.runs.unavailable = True
    response = await client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["checks"]["workflows"] == "WorkflowsUnavailable"
    assert response.json()["checks"]["objects"] == "ok"


async def test_readiness_waits_for_nothing(rig: ApiRig) -> None:
    class Silent(type(rig.objects)):  # type: ignore[misc]  # a subclass of whatever the rig has
        async def list(self, *_: object, **__: object) -> list[str]:
            await asyncio.Event().wait()
            return []

    rig.objects = Silent()
    rig.restart(probe_seconds=0.05)
    async with rig.client() as client:
        response = await client.get("/readyz")
    assert response.json()["checks"]["objects"].startswith("does not answer")


def sample(text: str, name: str, **labels: str) -> float:
    for line in text.splitlines():
        if line.startswith(name) and all(f'{key}="{labels[key]}"' in line for key in labels):
            return float(line.rpartition(" ")[2])
    pytest.fail(f"{name} {labels} is not among the metrics:\n{text}")


async def test_metrics_count_by_route_and_never_by_path(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    await rig.upload()
    await client.post(f"{PATH}/retry")
    await client.get("/nothing/secret-path")
    text = (await client.get("/metrics")).text
    route = "/v1/namespaces/{ns}/functions/{name}/code"
    requests = "sless_api_requests_total"
    assert sample(text, requests, method="PUT", route=route, status="202") == 1
    assert sample(text, requests, route="none", status="404") == 1
    assert sample(text, "sless_api_upload_bytes_total") == len(make_zip())
    assert sample(text, "sless_api_asks_total", kind="upload") == 1
    assert sample(text, "sless_api_asks_total", kind="retry") == 1
    assert sample(text, "sless_api_in_flight") == 1
    assert "hello" not in text
    assert "secret" not in text


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*(references(each) for each in value.values()))
    if isinstance(value, list):
        return set().union(*(references(each) for each in value))
    return set()


def described(app: FastAPI) -> dict[str, Any]:
    return json.loads(json.dumps(app.openapi()))  # type: ignore[no-any-return]


async def test_the_description_is_whole(rig: ApiRig) -> None:
    document = described(rig.app)
    schemas = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert references(document) <= schemas
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            assert operation["description"], (method, path)
            assert "422" not in operation["responses"], (method, path)
            if path.startswith("/v1"):
                assert operation["security"] == [{"HTTPBearer": []}]
                assert {"401", "404", "503", "default"} <= operation["responses"].keys()


async def test_bodies_that_are_read_by_hand_are_described(rig: ApiRig) -> None:
    paths = described(rig.app)["paths"]
    patch = paths["/v1/namespaces/{ns}/functions/{name}"]["patch"]["requestBody"]["content"]
    assert set(patch) == {"application/json", "application/merge-patch+json"}
    upload = paths["/v1/namespaces/{ns}/functions/{name}/code"]["put"]
    assert set(upload["requestBody"]["content"]) == {"application/zip", "multipart/form-data"}
    names = {parameter["name"] for parameter in upload["parameters"]}
    assert {"ns", "name", "runtime", "handler", "deploy", "If-Match"} <= names
