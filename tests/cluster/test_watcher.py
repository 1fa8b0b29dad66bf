"""The whole watcher on an API server, with its own rights; workflows and S3 are in memory."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.functions import KubernetesFunctions
from sless.adapters.kubernetes.resources import FUNCTIONS
from sless.model.function import Function, FunctionRef
from sless.model.outcome import Outcome
from sless.model.phase import Phase
from sless.naming import S3Key, build_id, outcome_key
from sless.watcher.loop import Watcher
from tests.cluster.scene_rig import watching
from tests.cluster.spaces import MANAGER, ensure_spaces
from tests.fakes.objects import MemoryObjects
from tests.fakes.runs import FakeRuns
from tests.fixtures.waiting import until

SPACE = "watched"


@dataclass
class Home:
    """What outlives a watcher."""

    kubeconfig: str
    folder: Path
    functions: KubernetesFunctions
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    runs: FakeRuns = field(default_factory=FakeRuns)

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """With the watcher under way."""
        async with watching(self.kubeconfig, SPACE, folder=self.folder) as scene:
            functions = KubernetesFunctions(scene.server)
            watcher = Watcher(scene, functions, self.objects, self.runs, "http://gateway.test")
            task = asyncio.create_task(watcher.run())
            try:
                yield
            finally:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    async def ask(self, name: str) -> Function:
        """A Function whose zip is there."""
        key = str(S3Key(SPACE, name, "0" * 64, "python3.11"))
        self.objects.content[key] = b"zip"
        spec = {"s3Key": key, "runtime": "python3.11"}
        return (await self.functions.create(SPACE, name, spec=spec, manager=MANAGER)).function

    async def status(self, name: str) -> dict[str, Any]:
        """As it is."""
        stored = await self.functions.find(SPACE, name)
        assert stored is not None
        return dict(stored.manifest["status"])

    async def reaches(self, name: str, phase: Phase) -> None:
        """Waits for the status."""

        async def is_there() -> bool:
            return (await self.status(name)).get("phase") == phase

        await until(is_there, pause=0.05)


@pytest.fixture
async def home(server: ApiServer, kubeconfig: str, tmp_path: Path) -> AsyncIterator[Home]:
    await ensure_spaces(server, (SPACE,))
    yield Home(kubeconfig, tmp_path, KubernetesFunctions(server))
    await ensure_spaces(server, (SPACE,))


async def test_an_ask_is_looked_at_and_its_end_is_told(home: Home) -> None:
    async with home.watched():
        function = await home.ask("hello")
        await home.reaches("hello", Phase.PENDING)
        assert home.runs.looks == [(function.ref, function.ask)]
        outcome = Outcome(
            namespace=SPACE,
            name="hello",
            ask=function.ask,
            phase=Phase.FAILED,
            reason="BuildFailed",
            message="no such module",
            s3_key=function.spec.s3_key,
            build=build_id(function.spec.s3_key),
            runtime="python3.11",
        )
        home.objects.content[outcome_key(SPACE, "hello", function.uid, 1)] = outcome.to_json()
        await home.reaches("hello", Phase.FAILED)
        assert (await home.status("hello"))["message"] == "no such module"


async def test_what_was_deleted_while_nobody_watched_gets_a_look(home: Home) -> None:
    async with home.watched():
        function = await home.ask("hello")
        await home.reaches("hello", Phase.PENDING)
    await home.functions.delete(SPACE, "hello")
    home.runs.looks.clear()
    async with home.watched():
        await until(lambda: home.runs.looks)
    assert home.runs.looks == [(FunctionRef(SPACE, "hello"), None)]
    assert function.ref == FunctionRef(SPACE, "hello")


async def test_a_status_by_hand_is_put_right(home: Home, server: ApiServer) -> None:
    async with home.watched():
        await home.ask("hello")
        await home.reaches("hello", Phase.PENDING)
        junk = {"status": {"phase": "Splendid", "observedGeneration": 1}}
        await server.patch(FUNCTIONS, SPACE, "hello", junk, manager=MANAGER, subresource="status")
        await home.reaches("hello", Phase.PENDING)
