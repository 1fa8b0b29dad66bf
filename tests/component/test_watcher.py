"""The watcher's loop on the home's own store: what it waits out, and whom it goes on judging."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.functions import SqliteFunctions
from sless.adapters.sqlite.scene import SqliteScene
from sless.errors import WorkflowsUnavailable
from sless.model.function import Ask, Function, FunctionRef
from sless.model.outcome import Outcome
from sless.model.phase import Phase
from sless.naming import S3Key, build_id, outcome_key, repair_key
from sless.watcher.loop import AT_MOST, Watcher
from tests.fakes.objects import MemoryObjects
from tests.fakes.runs import FakeRuns
from tests.fixtures.waiting import until

DEADLINE = 20.0
"""Seconds; the machines are shared."""


@dataclass
class Home:
    """What a watcher sees, on a database at `path`."""

    path: Path
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    runs: FakeRuns = field(default_factory=FakeRuns)

    def __post_init__(self) -> None:
        self.database = Database(self.path)
        self.functions = SqliteFunctions(self.database)

    @asynccontextmanager
    async def watching(self, *, heartbeat: Path | None = None) -> AsyncIterator[Watcher]:
        """A watcher, at rest."""
        scene = SqliteScene(self.database, progress_deadline=60)
        url = "http://gateway.test"
        yield Watcher(scene, self.functions, self.objects, self.runs, url, heartbeat=heartbeat)
        await scene.close()
        self.database.close()

    @asynccontextmanager
    async def watched(
        self, *, heartbeat: Path | None = None
    ) -> AsyncIterator["asyncio.Task[None]"]:
        """With the watcher's loop under way."""
        async with self.watching(heartbeat=heartbeat) as watcher:
            task = asyncio.create_task(watcher.run())
            try:
                yield task
            finally:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    def answer(self, function: Function, phase: Phase) -> None:
        """Records the outcome of its first ask."""
        key = outcome_key(function.namespace, function.name, function.uid, 1)
        self.objects.content[key] = outcome(function, phase).to_json()

    async def ask(self, name: str) -> Function:
        """A Function whose zip is there."""
        key = str(S3Key("ns", name, "0" * 64, "python3.11"))
        self.objects.content[key] = b"zip"
        spec = {"s3Key": key, "runtime": "python3.11"}
        return (await self.functions.create("ns", name, spec=spec, manager="test")).function

    async def status(self, name: str) -> dict[str, Any]:
        """Its status, waited for."""
        async with asyncio.timeout(DEADLINE):
            while True:
                stored = await self.functions.find("ns", name)
                assert stored is not None
                if found := stored.manifest["status"]:
                    return dict(found)
                await asyncio.sleep(0.02)


def outcome(function: Function, phase: Phase, reason: str = "") -> Outcome:
    return Outcome(
        namespace=function.namespace,
        name=function.name,
        ask=function.ask,
        phase=phase,
        reason=reason or phase.value,
        message="",
        s3_key=function.spec.s3_key,
        build=build_id(function.spec.s3_key),
        runtime=function.spec.runtime,
    )


async def test_it_waits_a_store_out_that_is_away(tmp_path: Path) -> None:
    home = Home(tmp_path / "away" / "home.db")
    async with home.watched() as watching:
        # Longer than its pause, so that it has tried to read and to wait for changes.
        done, _ = await asyncio.wait([watching], timeout=1.5)
        assert not done
        (tmp_path / "away").mkdir()
        await home.ask("hello")
        assert (await home.status("hello"))["phase"] == "Pending"


@pytest.mark.parametrize("rubbish", [b"{", b"[]", b'{"phase": "Splendid"}'])
async def test_an_outcome_that_cannot_be_read_is_its_functions_trouble_alone(
    tmp_path: Path, rubbish: bytes
) -> None:
    home = Home(tmp_path / "home.db")
    spoiled = await home.ask("a-spoiled")
    home.objects.content[outcome_key("ns", spoiled.name, spoiled.uid, 1)] = rubbish
    await home.ask("hello")
    async with home.watched():
        assert (await home.status("hello"))["phase"] == "Pending"


class CountedObjects(MemoryObjects):
    """Counts what is read."""

    def __init__(self) -> None:
        super().__init__()
        self.read = 0

    async def find(self, key: str) -> bytes | None:
        self.read += 1
        return await super().find(key)


async def test_what_is_settled_costs_a_pass_nothing(tmp_path: Path) -> None:
    objects = CountedObjects()
    home = Home(tmp_path / "home.db", objects=objects)
    for number in range(20):
        home.answer(await home.ask(f"f-{number}"), Phase.FAILED)
    async with home.watching() as watcher:

        async def rests() -> bool:
            return not await watcher.pass_once()

        await until(rests, pause=0.1)
        objects.read = 0
        assert not await watcher.pass_once()
        assert objects.read == 0
        await home.ask("another")
        assert await watcher.pass_once()
        assert 0 < objects.read < 5


async def test_what_is_under_way_does_not_wait_for_the_many(tmp_path: Path) -> None:
    home = Home(tmp_path / "home.db")
    told = {"observedGeneration": 1, "phase": "Failed"}
    for number in range(AT_MOST + 1):
        function = await home.ask(f"a-{number}")
        home.answer(function, Phase.FAILED)
        await home.functions.write_status("ns", function.name, uid=function.uid, status=told)
    await home.ask("z-new")
    async with home.watching() as watcher:
        assert await watcher.pass_once()
        assert (await home.status("z-new"))["phase"] == "Pending"

        async def told_again() -> int:
            names = [f"a-{number}" for number in range(AT_MOST + 1)]
            return len([name for name in names if "url" in await home.status(name)])

        assert await told_again() == AT_MOST - 1
        await watcher.pass_once()
        assert await told_again() == AT_MOST + 1


async def test_the_note_of_a_failed_repair_is_read_where_nothing_serves(tmp_path: Path) -> None:
    home = Home(tmp_path / "home.db")
    lost = await home.ask("lost")
    home.answer(lost, Phase.READY)
    note = outcome(lost, Phase.FAILED, "BuildFailed")
    home.objects.content[repair_key("ns", "lost", lost.uid, 1)] = note.to_json()
    async with home.watching() as watcher:
        await watcher.pass_once()
        assert (await home.status("lost"))["reason"] == "BuildFailed"


class DefectiveObjects(MemoryObjects):
    """A defect about one Function."""

    async def find(self, key: str) -> bytes | None:
        if "/broken/" in key:
            raise ZeroDivisionError
        return await super().find(key)


async def test_a_defect_about_one_function_keeps_no_other_from_its_status(tmp_path: Path) -> None:
    home = Home(tmp_path / "home.db", objects=DefectiveObjects())
    await home.ask("broken")
    home.answer(await home.ask("hello"), Phase.FAILED)
    async with home.watching() as watcher:
        await watcher.pass_once()
        assert (await home.status("hello"))["phase"] == "Failed"


class DeafRuns(FakeRuns):
    """One function's run takes no more looks: Temporal refuses a run its 10 001st signal."""

    async def look(self, function: FunctionRef, *, ask: Ask | None = None) -> str:
        if function.name == "gone":
            raise WorkflowsUnavailable("Temporal does not answer: exceeded limit for signals.")
        return await super().look(function, ask=ask)


async def test_a_run_left_by_a_function_that_hears_nothing_holds_up_nobody_else(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home.db", runs=DeafRuns())
    await FakeRuns.look(home.runs, FunctionRef("ns", "gone"))
    await FakeRuns.look(home.runs, FunctionRef("ns", "left"))
    await home.ask("hello")
    async with home.watched():
        assert (await home.status("hello"))["phase"] == "Pending"
        await until(lambda: [ref.name for ref, _ in home.runs.looks].count("left") > 1)


async def test_each_pass_is_a_heartbeat(tmp_path: Path) -> None:
    home = Home(tmp_path / "home.db")
    await home.ask("hello")
    heartbeat = tmp_path / "heartbeat"
    async with home.watched(heartbeat=heartbeat):
        await until(heartbeat.exists)
        heartbeat.unlink()
        await until(heartbeat.exists)
        home.objects.unavailable = True  # one Function's trouble is none of the loop's
        heartbeat.unlink()
        await until(heartbeat.exists)


async def test_an_outage_of_temporal_is_no_hang(tmp_path: Path) -> None:
    home = Home(tmp_path / "home.db")
    await home.ask("hello")
    heartbeat = tmp_path / "heartbeat"
    home.runs.unavailable = True
    async with home.watching(heartbeat=heartbeat) as watcher:
        with pytest.raises(WorkflowsUnavailable):
            await watcher.pass_once()
    assert heartbeat.exists()


async def test_without_a_scene_there_is_no_heartbeat(tmp_path: Path) -> None:
    heartbeat = tmp_path / "heartbeat"
    home = Home(tmp_path / "away" / "home.db")
    async with home.watched(heartbeat=heartbeat) as watching:
        done, _ = await asyncio.wait([watching], timeout=1.5)
        assert not done
        assert not heartbeat.exists()
