"""Warnings from the events of a scripted API server: how often it is asked, and what it refuses."""

import asyncio
from datetime import UTC, datetime

import pytest
from aiohttp import web

from sless.adapters.kubernetes.warnings import KubernetesWarnings
from sless.errors import StoreUnavailable
from sless.model.function import FunctionRef
from tests.component.test_kubernetes_client import scripted, status

HELLO = FunctionRef("team", "hello")
BUILD = "0123456789ab"


class Events:
    """Answers lists of events, one of them on each page."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, request: web.Request) -> web.StreamResponse:
        assert request.query["fieldSelector"] == "type=Warning"
        page = int(request.query.get("continue") or "1")
        self.asked.append(f"{request.path.split('/')[4]} {page}")
        more = str(page + 1) if page < 2 else ""
        body = {"metadata": {"continue": more}, "items": [event(f"Pod {page}.")]}
        return web.json_response(body)


def event(message: str) -> dict[str, object]:
    return {
        "metadata": {},
        "type": "Warning",
        "involvedObject": {"kind": "Pod", "name": "fn-hello-5d4c8f7b9-x2x4z"},
        "reason": "Surprise",
        "message": message,
        "lastTimestamp": datetime.now(UTC).isoformat(),
    }


async def test_all_pages_are_read() -> None:
    events = Events()
    async with scripted(events) as server:
        warnings = KubernetesWarnings(server, builds="builds")
        found = await warnings.find(HELLO, build=BUILD)
    assert sorted(warning.message for warning in found) == ["Pod 1.", "Pod 2."]
    assert sorted(events.asked) == ["builds 1", "builds 2", "team 1", "team 2"]


async def test_who_asks_soon_again_or_at_once_is_told_the_same() -> None:
    events = Events()
    async with scripted(events) as server:
        warnings = KubernetesWarnings(server, builds="builds", fresh_seconds=60)
        answers = await asyncio.gather(*(warnings.find(HELLO, build=BUILD) for _ in range(5)))
        answers.append(await warnings.find(HELLO, build=BUILD))
        assert len(events.asked) == 4
        await warnings.find(FunctionRef("other", "hello"), build=BUILD)
        assert sorted(events.asked[4:]) == ["other 1", "other 2"]
    assert all(answer == answers[0] for answer in answers)


async def test_an_old_answer_is_not_told_again() -> None:
    events = Events()
    async with scripted(events) as server:
        warnings = KubernetesWarnings(server, builds="team", fresh_seconds=0)
        for _ in range(2):
            await warnings.find(HELLO, build=BUILD)
    assert len(events.asked) == 8


async def test_a_right_that_is_lacking_is_told_and_not_remembered() -> None:
    said = 'events is forbidden: User "sless" cannot list resource "events"'
    events, refusing = Events(), True

    def answer(request: web.Request) -> web.StreamResponse:
        return status(403, said, reason="Forbidden") if refusing else events(request)

    async with scripted(answer) as server:
        warnings = KubernetesWarnings(server, builds="builds", fresh_seconds=60)
        with pytest.raises(StoreUnavailable, match="refuses us a right"):
            await warnings.find(HELLO, build=BUILD)
        refusing = False
        assert await warnings.find(HELLO, build=BUILD)
