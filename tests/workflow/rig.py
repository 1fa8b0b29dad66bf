"""The whole pipeline on a real Temporal server, with a scripted builder and runner."""

import hashlib
import io
import uuid
import zipfile
from dataclasses import dataclass, field
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from activities.build_image import Building
from activities.images import Imaging
from activities.look_around import Looking
from activities.pacing import Pace
from activities.prepare_context import Preparing
from activities.record_outcome import Recording
from activities.roll_out import RollingOut
from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.deployments import SqliteDeployments
from sless.adapters.sqlite.functions import SqliteFunctions
from sless.adapters.temporal_runs import TemporalRuns
from sless.archive import DEFAULT_LIMITS, DEFAULT_RUNTIMES
from sless.dependencies import Language
from sless.model.function import Function, FunctionRef
from sless.model.outcome import Outcome, parse_outcome
from sless.naming import S3Key, build_id, build_workflow_id, function_workflow_id, outcome_key
from tests.fakes.builder import FakeBuilder
from tests.fakes.images import FakeImages
from tests.fakes.objects import MemoryObjects
from tests.fakes.runner import FakeRunner
from tests.fixtures.waiting import until
from worker import Pipeline, make_worker

RUNTIME = "python3.11"


@dataclass
class Rig:
    """One function's world; `name` is the function."""

    client: Client
    database: Database
    task_queue: str = field(default_factory=lambda: f"q-{uuid.uuid4().hex[:8]}")
    namespace: str = field(default_factory=lambda: f"ns-{uuid.uuid4().hex[:8]}")
    name: str = "hello"
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    images: FakeImages = field(default_factory=FakeImages)

    def __post_init__(self) -> None:
        self.builder = FakeBuilder(self.images)
        self.runner = FakeRunner(self.database)
        self.functions = SqliteFunctions(self.database)
        self.deployments = SqliteDeployments(self.database, progress_deadline=60)
        self.runs = TemporalRuns(self.client, ui_url="http://ui", task_queue=self.task_queue)
        self.ref = FunctionRef(self.namespace, self.name)

    def pipeline(self) -> Pipeline:
        return Pipeline(
            looking=Looking(self.functions, self.deployments, self.images, self.objects),
            preparing=Preparing(
                self.objects,
                DEFAULT_RUNTIMES,
                {each: {} for each in Language},
                DEFAULT_LIMITS,
            ),
            building=Building(self.builder, self.images, self.objects, self.runs, pace=Pace(0.05)),
            imaging=Imaging(self.functions, self.images),
            rolling_out=RollingOut(self.functions, self.deployments, pace=Pace(0.05)),
            recording=Recording(self.objects, self.runs),
        )

    def worker(self, **options: Any) -> Worker:
        return make_worker(self.client, self.pipeline(), task_queue=self.task_queue, **options)

    async def upload(self, text: str = "def handler(request): return 'hi'") -> str:
        """A zip with one handler; its s3Key."""
        body = io.BytesIO()
        with zipfile.ZipFile(body, "w") as packed:
            packed.writestr("handler.py", text)
        data = body.getvalue()
        key = S3Key(self.namespace, self.name, hashlib.sha256(data).hexdigest(), RUNTIME)
        await self.objects.put_if_absent(str(key), data)
        return str(key)

    async def ask(self, key: str, *, look: bool = True, **settings: Any) -> Function:
        """One write of the spec, as the API makes it, and a look."""
        spec = {"s3Key": key, "runtime": RUNTIME, "request": uuid.uuid4().hex, **settings}
        if await self.functions.find(self.namespace, self.name) is None:
            made = await self.functions.create(self.namespace, self.name, spec=spec, manager="api")
        else:
            made = await self.functions.patch(self.namespace, self.name, spec=spec, manager="api")
        if look:
            await self.look()
        return made.function

    async def look(self) -> None:
        await self.runs.look(self.ref)

    async def cancel(self, function: Function) -> None:
        """As the API and kubectl do it."""
        await self.functions.patch(
            self.namespace,
            self.name,
            annotations={"sless.io/cancel": str(function.generation)},
            manager="api",
        )
        await self.look()

    def handle(self) -> WorkflowHandle[Any, Any]:
        return self.client.get_workflow_handle(function_workflow_id(self.namespace, self.name))

    def build_handle(self, key: str) -> WorkflowHandle[Any, Any]:
        return self.client.get_workflow_handle(
            build_workflow_id(self.namespace, self.name, build_id(key))
        )

    async def find_outcome(self, function: Function) -> Outcome | None:
        key = outcome_key(self.namespace, self.name, function.uid, function.generation)
        text = await self.objects.find(key)
        return parse_outcome(text) if text else None

    async def outcome(self, function: Function) -> Outcome:
        """The ask's outcome, waited for."""
        found: Outcome = await until(lambda: self.find_outcome(function))
        return found

    async def ended(self) -> None:
        """Waits until the function workflow has ended."""
        await until(self._is_ended)

    async def _is_ended(self) -> bool:
        run = await self.runs.find(function_workflow_id(self.namespace, self.name))
        return run is not None and run.state.value not in {"Running", "ContinuedAsNew"}

    async def job(self, count: int = 1) -> str:
        """Waits until so many Jobs were made in all; the newest one's nonce."""
        await until(lambda: len(self.builder.created) >= count)
        return list(self.builder.created)[-1]

    async def serving(self) -> str:
        """The build id that the Deployment runs."""
        found = await self.deployments.find(self.namespace, self.name)
        return found.revision.build if found else ""
