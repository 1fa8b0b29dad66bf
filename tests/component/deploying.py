"""Deploys one function's revisions as activities do, without a build or a workflow."""

import asyncio
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from sless.adapters.bundles.bundle import Bundle
from sless.adapters.bundles.installer import Command
from sless.adapters.bundles.interpreters import find_interpreter
from sless.adapters.bundles.make import BundleMaker, BundleOrder
from sless.adapters.bundles.resolutions import Resolutions
from sless.adapters.bundles.verdict import Finished
from sless.adapters.sqlite.deployments import SqliteDeployments
from sless.adapters.sqlite.functions import SqliteFunctions
from sless.adapters.sqlite.instances import list_instances
from sless.adapters.sqlite.routes import upsert_route
from sless.dependencies import Language
from sless.model.deployment import Availability, Deployment, FailedNote, Progress, Revision
from sless.model.function import Ask, EnvVar, FunctionRef
from sless.model.instance import Instance, InstanceState
from sless.model.routed import Routed
from sless.naming import S3Key
from sless.runtime import runtime_files
from tests.component.runner_home import DEADLINE, RunnerHome

RUNTIME = "python3.11"


@dataclass
class Deploying:
    """The function `team/<name>` of a home."""

    home: RunnerHome
    name: str = "thumb"
    ask: Ask | None = None

    @property
    def ref(self) -> FunctionRef:
        return FunctionRef("team", self.name)

    @property
    def deployments(self) -> SqliteDeployments:
        return SqliteDeployments(self.home.database, progress_deadline=DEADLINE)

    async def deploy(
        self,
        files: Mapping[str, str],
        *,
        env: Sequence[EnvVar] = (),
        command: tuple[str, ...] = (),
    ) -> Deployment:
        """Writes the Deployment with a revision of those files, made without a job."""
        image = await asyncio.to_thread(self._push, files)
        revision = Revision(image, "b" * 12, RUNTIME, env=tuple(env), command=command)
        present = await self.find()
        if present is None:
            self.ask = await self._create_function()
            return await self.deployments.create(Deployment("team", self.name, self.ask, revision))
        ask = replace(present.ask, generation=present.ask.generation + 1)
        return await self.deployments.swap(
            replace(present, ask=ask, revision=revision, good=present.revision, failed=None)
        )

    async def put_back(self) -> None:
        """Writes the good revision over the present one, as a failed rollout ends."""
        present = await self.find()
        assert present
        assert present.good
        note = FailedNote(present.ask, present.revision.hash, "FunctionCrashed", "by the test")
        await self.deployments.swap(replace(present, revision=present.good, failed=note))

    async def delete(self) -> None:
        """Deletes the function, if it is there."""
        if await self.find():
            await SqliteFunctions(self.home.database).delete("team", self.name)

    async def find(self) -> Deployment | None:
        return await self.deployments.find("team", self.name)

    async def availability(self) -> Availability:
        found = await self.find()
        assert found
        return found.availability

    async def judged(self) -> Availability:
        """The availability once it is more than progressing."""
        async with asyncio.timeout(DEADLINE):
            while True:
                availability = await self.availability()
                if availability.progress is not Progress.PROGRESSING:
                    return availability
                await asyncio.sleep(0.02)

    async def rows(self) -> list[Instance]:
        found = await self.home.database.read(list_instances)
        return [row for row in found if row.name == self.name]

    async def ready(self, *, other_than: int = 0) -> Instance:
        """The present revision's row once its process is ready."""
        present = await self.find()
        assert present
        wanted = present.revision.instance
        async with asyncio.timeout(DEADLINE):
            while True:
                for row in await self.rows():
                    ready = row.state is InstanceState.READY and row.pid != other_than
                    if row.instance == wanted and ready:
                        return row
                await asyncio.sleep(0.02)

    async def only(self, *instances: str) -> None:
        """Returns once exactly these are there."""
        async with asyncio.timeout(DEADLINE):
            while True:
                if {row.instance for row in await self.rows()} == set(instances):
                    return
                await asyncio.sleep(0.02)

    async def gone(self) -> None:
        """Returns once no process of it is left."""
        await self.only()

    async def route(self, row: Instance) -> None:
        """Notes that the gateway sends requests there."""
        present = await self.find()
        assert present
        ask = present.ask
        route = Routed("team", self.name, ask.uid, ask.generation, row.instance, row.port)
        await self.home.database.write(upsert_route, route)

    async def get(self, row: Instance) -> tuple[int, bytes]:
        """Status and body of one request to that process."""
        async with httpx.AsyncClient(trust_env=False, timeout=DEADLINE) as client:
            answer = await client.get(f"http://127.0.0.1:{row.port}/")
        return answer.status_code, answer.content

    async def json(self, row: Instance) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((await self.get(row))[1])
        return content

    async def _create_function(self) -> Ask:
        key = S3Key("team", self.name, "0" * 64, RUNTIME)
        stored = await SqliteFunctions(self.home.database).create(
            "team", self.name, spec={"s3Key": str(key), "runtime": RUNTIME}, manager="test"
        )
        return stored.function.ask

    def _push(self, files: Mapping[str, str]) -> str:
        images = self.home.images
        with images.trees.temporary() as context:
            for path, text in files.items():
                _write(context / "code" / path, text.encode())
            for path, data in runtime_files(Language.PYTHON).items():
                _write(context / "runtime" / path, data)
            bundle = self._make(context)
        digest = images.push(self.ref, bundle=bundle, tag=bundle.digest[-12:])
        return images.reference(self.ref, digest)

    def _make(self, context: Path) -> Bundle:
        maker = BundleMaker(
            trees=self.home.images.trees,
            resolutions=Resolutions(self.home.data / "images/resolutions"),
            execute=execute,
            say=lambda _: None,
        )
        interpreter = find_interpreter(RUNTIME, configured={})
        return maker.make(BundleOrder(self.ref, RUNTIME, 0, interpreter, context))


def execute(command: Command) -> Finished:
    """Runs a command without a job around it."""
    done = subprocess.run(
        command.arguments, cwd=command.folder, capture_output=True, text=True, check=False
    )
    return Finished(done.returncode, done.stdout + done.stderr)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
