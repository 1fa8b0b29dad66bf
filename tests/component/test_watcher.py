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
from sless.model.function import Function
from sless.naming import S3Key, outcome_key
from sless.watcher.loop import Watcher
from tests.fakes.objects import MemoryObjects
from tests.fakes.runs import FakeRuns

DEADLINE = 20.0
"""Seconds; the machines are shared."""


@dataclass
class Home:
    """What a watcher sees, on a database at `path`."""

    path: Path
    objects: MemoryObjects = field(default_factory=MemoryObjects)

    def __post_init__(self) -> None:
        self.database = Database(self.path)
        self.functions = SqliteFunctions(self.database)

    @asynccontextmanager
    async def watched(self) -> AsyncIterator["asyncio.Task[None]"]:
        """With the watcher's loop under way."""
        scene = SqliteScene(self.database, progress_deadline=60)
        watcher = Watcher(scene, self.functions, self.objects, FakeRuns(), "http://gateway.test")
        task = asyncio.create_task(watcher.run())
        try:
            yield task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await scene.close()
            self.database.close()

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
