"""Following objects through what an API server does to those who do."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes.aio.client import Configuration

from sless.adapters.kubernetes import client as client_module
from sless.adapters.kubernetes import follow as follow_module
from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.connection import Connection
from sless.adapters.kubernetes.follow import follow
from sless.adapters.kubernetes.mirror import Mirror
from sless.adapters.kubernetes.resources import PODS
from tests.fixtures.waiting import until


def pod(name: str, version: int, **more: object) -> dict[str, Any]:
    return {"metadata": {"namespace": "team", "name": name, "resourceVersion": str(version)}} | more


def event(kind: str, thing: dict[str, Any]) -> bytes:
    return json.dumps({"type": kind, "object": thing}).encode() + b"\n"


@dataclass
class Script:
    """What lists and watches answer, in their order; the last of each again and again."""

    lists: list[tuple[int, list[dict[str, Any]]]]
    watches: list[list[bytes]] = field(default_factory=list)
    broken: int = 0
    """So many lists fail first."""
    silent: bool = False
    """Watches say nothing and do not end."""
    asked: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("watch") != "true":
            return self._list(request)
        self.asked.append(f"watch {request.query['resourceVersion']}")
        response = web.StreamResponse()
        await response.prepare(request)
        for line in self.watches.pop(0) if self.watches else ():
            await response.write(line)
        if self.silent or not self.watches:
            await asyncio.sleep(60)
        return response

    def _list(self, request: web.Request) -> web.StreamResponse:
        if self.broken:
            self.broken -= 1
            return web.Response(status=500, text="etcd is away")
        self.asked.append("list")
        assert request.query["labelSelector"] == "x"
        version, items = self.lists[0]
        if len(self.lists) > 1:
            self.lists.pop(0)
        at = int(request.query.get("continue", "0"))
        rest = {"continue": str(at + 1)} if at + 1 < len(items) else {}
        metadata = {"resourceVersion": str(version), **rest}
        return web.json_response({"metadata": metadata, "items": items[at : at + 1]})


@contextlib.asynccontextmanager
async def following(script: Script) -> AsyncIterator[Mirror[Any]]:
    app = web.Application()
    app.router.add_route("GET", "/{path:.*}", script.answer)
    mirror = Mirror(lambda thing: thing.get("value", "there"))
    async with TestServer(app) as server:
        client = ApiServer(Connection(Configuration(host=str(server.make_url("")).rstrip("/"))))
        task = asyncio.create_task(follow(client, PODS, mirror, labels="x"))
        try:
            yield mirror
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            await client.close()


def names(mirror: Mirror[Any]) -> set[str]:
    return {name for _, name in mirror.items()}


async def test_pages_then_changes_make_the_whole() -> None:
    changes = [event("ADDED", pod("c", 11)), event("DELETED", pod("a", 12))]
    script = Script([(10, [])], [changes])
    script.lists = [(10, [pod("a", 3), pod("b", 4)])]
    async with following(script) as mirror:
        await until(lambda: names(mirror) == {"b", "c"})
        assert mirror.listed


async def test_a_watch_goes_on_where_it_ended() -> None:
    bookmark = event("BOOKMARK", {"metadata": {"resourceVersion": "20"}})
    script = Script([(10, [pod("a", 3)])], [[bookmark], [event("ADDED", pod("b", 21))]])
    async with following(script) as mirror:
        await until(lambda: names(mirror) == {"a", "b"})
    assert script.asked[:3] == ["list", "watch 10", "watch 20"]


async def test_a_forgotten_version_is_listed_anew() -> None:
    gone = event("ERROR", {"kind": "Status", "code": 410, "message": "too old"})
    script = Script([(10, [pod("a", 3)]), (30, [pod("b", 25)])], [[gone], []])
    async with following(script) as mirror:
        await until(lambda: names(mirror) == {"b"})


async def test_a_server_in_trouble_is_asked_again() -> None:
    script = Script([(10, [pod("a", 3)])], broken=1)
    async with following(script) as mirror:
        await until(lambda: names(mirror) == {"a"})


async def test_a_dead_connection_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_QUIET_SECONDS", 0.3)
    script = Script([(10, [])], [[], [event("ADDED", pod("a", 11))]], silent=True)
    async with following(script) as mirror:
        await until(lambda: names(mirror) == {"a"})


async def test_a_deletion_that_no_watch_told_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow_module, "RESYNC_SECONDS", 0.5)
    monkeypatch.setattr(client_module, "_QUIET_SECONDS", 0.3)
    script = Script([(10, [pod("a", 3)]), (20, [])], silent=True)
    async with following(script) as mirror:
        await until(lambda: names(mirror) == {"a"})
        await until(lambda: names(mirror) == set())


async def test_an_object_may_be_large() -> None:
    large = event("ADDED", pod("a", 11, value="x" * 1_000_000))
    script = Script([(10, [])], [[large]])
    async with following(script) as mirror:
        await until(lambda: names(mirror) == {"a"})
