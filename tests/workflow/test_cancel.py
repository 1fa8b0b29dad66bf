"""Cancelling: by annotation, in Temporal UI on parent or child, at each step."""

import asyncio
from pathlib import Path

import pytest

from sless.model.phase import Phase
from sless.naming import build_id
from tests.fakes.builder import Hang
from tests.fakes.objects import MemoryObjects
from tests.fixtures.waiting import until
from tests.workflow.rig import Rig

pytestmark = pytest.mark.real


async def test_by_annotation_while_building(rig: Rig) -> None:
    rig.builder.scripts.append(Hang())
    async with rig.worker():
        function = await rig.ask(await rig.upload())
        nonce = await rig.job()
        await rig.cancel(function)
        outcome = await rig.outcome(function)
        await rig.ended()
    assert (outcome.phase, outcome.reason) == (Phase.CANCELLED, "Cancelled")
    assert rig.builder.deleted == [nonce]


async def test_of_the_run_then_an_upload_is_built(rig: Rig) -> None:
    rig.builder.scripts.append(Hang())
    async with rig.worker():
        function = await rig.ask(await rig.upload("a = 1"))
        await rig.job()
        await rig.handle().cancel()
        newer = await rig.ask(await rig.upload("b = 1"))
        assert (await rig.outcome(newer)).phase is Phase.READY
        assert (await rig.outcome(function)).phase is Phase.CANCELLED


async def test_of_the_run_ends_cancelled_in_temporals_terms(rig: Rig) -> None:
    rig.builder.scripts.append(Hang())
    async with rig.worker():
        function = await rig.ask(await rig.upload())
        await rig.job()
        await rig.handle().cancel()
        await rig.outcome(function)
        await rig.ended()
        description = await rig.handle().describe()
    assert description.status is not None
    assert description.status.name == "CANCELED"


class SlowObjects(MemoryObjects):
    """S3 whose downloads wait for `go`; an activity in them hears of nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = asyncio.Event()
        self.go = asyncio.Event()

    async def download(self, key: str, path: Path) -> None:
        """See the port."""
        self.waiting.set()
        await self.go.wait()
        await super().download(key, path)


async def test_that_an_activity_is_too_quick_to_hear(rig: Rig) -> None:
    rig.objects = objects = SlowObjects()
    async with rig.worker():
        key = await rig.upload()
        function = await rig.ask(key)
        async with asyncio.timeout(30):
            await objects.waiting.wait()
        await rig.build_handle(key).cancel()
        objects.go.set()
        outcome = await rig.outcome(function)
        await rig.ended()
    assert (outcome.phase, outcome.reason) == (Phase.CANCELLED, "Cancelled")
    assert not rig.builder.created


async def test_of_the_child(rig: Rig) -> None:
    rig.builder.scripts.append(Hang())
    async with rig.worker():
        key = await rig.upload()
        function = await rig.ask(key)
        await rig.job()
        await rig.build_handle(key).cancel()
        outcome = await rig.outcome(function)
    assert (outcome.phase, outcome.reason) == (Phase.CANCELLED, "Cancelled")


async def test_termination_of_the_child_removes_its_job(rig: Rig) -> None:
    rig.builder.scripts.append(Hang())
    async with rig.worker():
        key = await rig.upload()
        function = await rig.ask(key)
        nonce = await rig.job()
        await rig.build_handle(key).terminate()
        outcome = await rig.outcome(function)
        await until(lambda: rig.builder.deleted == [nonce])
    assert (outcome.phase, outcome.reason) == (Phase.CANCELLED, "Terminated")


async def test_termination_of_the_run_cancels_its_child_and_the_next_look_goes_on(rig: Rig) -> None:
    rig.builder.scripts.append(Hang())
    async with rig.worker():
        function = await rig.ask(await rig.upload())
        nonce = await rig.job()
        await rig.handle().terminate()
        await rig.look()
        outcome = await rig.outcome(function)
    assert outcome.phase is Phase.READY
    assert rig.builder.deleted == [nonce]


async def test_during_a_first_rollout(rig: Rig) -> None:
    async with rig.worker():
        key = await rig.upload()
        rig.runner.waiting.add(build_id(key))
        function = await rig.ask(key)
        await until(rig.serving)
        await rig.cancel(function)
        outcome = await rig.outcome(function)
        await rig.ended()
    assert outcome.phase is Phase.CANCELLED


async def test_during_a_rollout_puts_the_last_good_one_back(rig: Rig) -> None:
    async with rig.worker():
        good, slow = await rig.upload("a = 1"), await rig.upload("b = 1")
        await rig.outcome(await rig.ask(good))
        rig.runner.waiting.add(build_id(slow))
        function = await rig.ask(slow)

        async def rolling() -> bool:
            return await rig.serving() == build_id(slow)

        await until(rolling)
        await rig.cancel(function)
        outcome = await rig.outcome(function)
        await rig.ended()
    assert outcome.phase is Phase.CANCELLED
    assert await rig.serving() == build_id(good)


async def test_of_a_rollout_without_a_build(rig: Rig) -> None:
    async with rig.worker():
        good, slow = await rig.upload("a = 1"), await rig.upload("b = 1")
        await rig.outcome(await rig.ask(slow))
        await rig.outcome(await rig.ask(good))
        await rig.ended()
        rig.runner.waiting.add(build_id(slow))
        function = await rig.ask(slow, env=[{"name": "A", "value": "1"}])

        async def rolling() -> bool:
            return await rig.serving() == build_id(slow)

        await until(rolling)
        await rig.handle().cancel()
        outcome = await rig.outcome(function)
        await rig.ended()
    assert outcome.phase is Phase.CANCELLED
    assert await rig.serving() == build_id(good)
    assert len(rig.builder.created) == 2


async def test_after_the_end_comes_too_late(rig: Rig) -> None:
    async with rig.worker():
        function = await rig.ask(await rig.upload())
        outcome = await rig.outcome(function)
        await rig.ended()
        await rig.cancel(function)
        await rig.ended()
    assert outcome.phase is Phase.READY
    assert await rig.outcome(function) == outcome


async def test_of_an_answered_run_hides_no_upload(rig: Rig) -> None:
    """A cancel that comes too late must not make the run blind for what comes next."""
    async with rig.worker():
        first = await rig.ask(await rig.upload("a = 1"))
        await rig.outcome(first)
        await rig.handle().cancel()
        newer = await rig.ask(await rig.upload("b = 1"))
        assert (await rig.outcome(newer)).phase is Phase.READY
        await rig.ended()
    assert (await rig.outcome(first)).phase is Phase.READY
