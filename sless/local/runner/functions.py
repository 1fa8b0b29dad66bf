"""The function processes of a home: started and stopped as the tables say."""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Sequence

import structlog

from sless.adapters.bundles.images import BundleImages
from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.instances import delete_instance
from sless.local.layout import Layout
from sless.local.runner.function_logs import FunctionLogs
from sless.local.runner.instance import RunningInstance
from sless.local.runner.interpreters import Interpreters
from sless.local.runner.plan import InstanceKey, plan, present
from sless.local.runner.rows import persist
from sless.local.runner.settings import RunnerSettings
from sless.local.runner.starting import Surroundings
from sless.model.deployment import Deployment
from sless.model.instance import Instance
from sless.model.routed import Routed

_STARTS_PER_PROCESSOR = 2
_log = structlog.get_logger()


class Functions:
    """Every instance that runs, or is to run again, by its key."""

    def __init__(
        self,
        database: Database,
        images: BundleImages,
        settings: RunnerSettings,
        interpreters: Interpreters,
        *,
        wake: Callable[[], None],
    ) -> None:
        """`wake` asks for another `reconcile`."""
        self._database = database
        self._wake = wake
        self._around = Surroundings(
            database=database,
            images=images,
            interpreters=interpreters,
            settings=settings,
            logs=FunctionLogs(
                Layout(settings.data).function_logs, limit=settings.function_log_bytes
            ),
            starts=asyncio.Semaphore(_STARTS_PER_PROCESSOR * (os.cpu_count() or 1)),
        )
        self._running: dict[InstanceKey, RunningInstance] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def recover(self, rows: Sequence[Instance]) -> None:
        """Forgets the processes of an earlier runner: they have ended."""
        await persist(self._database, _delete_rows, rows)

    def reconcile(self, deployments: Sequence[Deployment], routes: Sequence[Routed]) -> None:
        """Starts and stops what the tables ask for."""
        states = {key: instance.state for key, instance in self._running.items()}
        decided = plan(deployments, states, routes)
        for key in decided.stop:
            self._running[key].stop()
        for deployment in decided.start:
            self._start(deployment)

    async def close(self) -> None:
        """Ends every process; what they are answering they may answer."""
        for instance in self._running.values():
            instance.stop()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self, deployment: Deployment) -> None:
        key = present(deployment)
        instance = RunningInstance(deployment, self._around)
        self._running[key] = instance
        task = asyncio.create_task(instance.run(), name=f"{deployment.namespace}/{deployment.name}")
        self._tasks.add(task)
        task.add_done_callback(lambda task: self._forget(key, task))

    def _forget(self, key: InstanceKey, task: asyncio.Task[None]) -> None:
        del self._running[key]
        self._tasks.discard(task)
        self._wake()
        if not task.cancelled() and task.exception():
            _log.error("an instance is not looked after any more", exc_info=task.exception())


def _delete_rows(connection: sqlite3.Connection, rows: Sequence[Instance]) -> None:
    for row in rows:
        delete_instance(connection, deployment_uid=row.deployment_uid, instance=row.instance)
