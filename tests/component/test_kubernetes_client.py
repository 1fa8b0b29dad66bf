"""The client of an API server against a scripted one: what a real one does seldom."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes.aio.client import Configuration

from sless.adapters.kubernetes import connection
from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.connection import Connection
from sless.adapters.kubernetes.resources import FUNCTIONS, PODS
from sless.errors import StoreUnavailable, VersionConflict

Answer = Callable[[web.Request], web.StreamResponse]


@contextlib.asynccontextmanager
async def scripted(answer: Answer) -> AsyncIterator[ApiServer]:
    async def handle(request: web.Request) -> web.StreamResponse:
        return answer(request)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    async with TestServer(app) as server:
        client = ApiServer(Connection(Configuration(host=str(server.make_url("")).rstrip("/"))))
        try:
            yield client
        finally:
            await client.close()


def status(code: int, message: str, **more: object) -> web.Response:
    body = {"kind": "Status", "status": "Failure", "code": code, "message": message, **more}
    return web.json_response(body, status=code)


async def test_a_list_goes_on_after_its_token_was_forgotten() -> None:
    asked: list[str] = []

    def answer(request: web.Request) -> web.StreamResponse:
        asked.append(request.query["continue"])
        if asked[-1] == "old":
            return status(410, "expired", reason="Expired", metadata={"continue": "renewed"})
        return web.json_response({"metadata": {"continue": "next"}, "items": [{"metadata": {}}]})

    async with scripted(answer) as server:
        page = await server.list(FUNCTIONS, "team", limit=1, token="old")
    assert (asked, page.next) == (["old", "renewed"], "next")
    assert page.items[0]["kind"] == "Function"


async def test_a_kind_that_is_not_installed_is_not_an_absent_object() -> None:
    async with scripted(lambda _: web.Response(status=404, text="404 page not found\n")) as server:
        with pytest.raises(StoreUnavailable, match="k8s/chart"):
            await server.find(FUNCTIONS, "team", "hello")


async def test_an_answer_that_is_no_json_is_told() -> None:
    async with scripted(lambda _: web.Response(status=502, text="<html>proxy")) as server:
        with pytest.raises(StoreUnavailable, match="answered 502: <html>proxy"):
            await server.find(FUNCTIONS, "team", "hello")


async def test_a_busy_server_is_asked_again_when_it_wants() -> None:
    answers = [
        web.json_response({"message": "(re)initializing"}, status=429, headers={"Retry-After": "0"})
        for _ in range(3)
    ]
    answers.append(web.json_response({"metadata": {"name": "hello"}}))
    async with scripted(lambda _: answers.pop(0)) as server:
        assert await server.find(FUNCTIONS, "team", "hello") == {"metadata": {"name": "hello"}}


async def test_a_server_that_stays_busy_is_away() -> None:
    headers = {"Retry-After": "3600"}
    busy = lambda _: web.json_response({"message": "busy"}, status=429, headers=headers)  # noqa: E731
    async with scripted(busy) as server:
        with pytest.raises(StoreUnavailable, match="answered 429: busy"):
            await server.find(FUNCTIONS, "team", "hello")


async def test_a_server_that_hangs_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 0.2)
    silence = asyncio.Event()

    async def handle(_: web.Request) -> web.StreamResponse:
        await silence.wait()
        return web.Response()

    app = web.Application()
    app.router.add_get("/{path:.*}", handle)
    async with TestServer(app) as hung:
        server = ApiServer(Connection(Configuration(host=str(hung.make_url("")).rstrip("/"))))
        with pytest.raises(StoreUnavailable, match="in time"):
            await server.find(FUNCTIONS, "team", "hello")
        silence.set()
        await server.close()


async def test_a_watch_tells_changes_until_the_version_is_forgotten() -> None:
    events = [
        {"type": "ADDED", "object": {"metadata": {"name": "a"}}},
        {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "7"}}},
        {"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old"}},
    ]

    def answer(request: web.Request) -> web.StreamResponse:
        assert request.query["watch"] == "true"
        assert request.query["resourceVersion"] == "5"
        return web.Response(text="".join(f"{json.dumps(event)}\n" for event in events))

    async with scripted(answer) as server:
        changes = server.watch(PODS, "team", since="5")
        assert [(await anext(changes)).kind for _ in range(2)] == ["ADDED", "BOOKMARK"]
        with pytest.raises(VersionConflict, match="too old"):
            await anext(changes)


async def test_a_watch_brings_objects_as_large_as_they_may_be() -> None:
    notes = {"note": "x" * 3_000_000}
    event = {"type": "ADDED", "object": {"metadata": {"annotations": notes}}}
    async with scripted(lambda _: web.Response(text=f"{json.dumps(event)}\n" * 2)) as server:
        changes = [change async for change in server.watch(PODS, "team", since="5")]
    assert [change.object["metadata"]["annotations"] for change in changes] == [notes] * 2


@pytest.mark.parametrize("text", ['{"type": "ADDED", "obj', "gateway timeout\n", '{"type": 1}\n'])
async def test_a_watch_that_breaks_off_is_an_outage(text: str) -> None:
    async with scripted(lambda _: web.Response(text=text)) as server:
        with pytest.raises(StoreUnavailable, match="watch"):
            await anext(server.watch(PODS, "team", since="5"))


async def test_a_log_is_bytes_and_none_without_its_pod() -> None:
    def answer(request: web.Request) -> web.StreamResponse:
        if "gone" in request.path:
            details = {"name": "gone", "kind": "pods"}
            return status(404, 'pods "gone" not found', reason="NotFound", details=details)
        assert request.query["container"] == "build"
        if "unscheduled" in request.path:
            return web.Response(status=204)
        return web.Response(body=b"\xff line\n")

    async with scripted(answer) as server:
        assert await server.read_log("b", "pod", container="build") == b"\xff line\n"
        assert await server.read_log("b", "unscheduled", container="build") == b""
        assert await server.read_log("b", "gone", container="build") is None
