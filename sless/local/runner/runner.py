"""The runner: makes builds and functions out of rows, and ends what nobody wants any more."""

import asyncio
import sqlite3
from dataclasses import dataclass

import structlog

from sless.adapters.bundles.images import BundleImages
from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.deployments import list_deployments
from sless.adapters.sqlite.instances import list_instances
from sless.adapters.sqlite.jobs import Job, list_jobs
from sless.adapters.sqlite.routes import list_routes
from sless.errors import InternalError, StoreUnavailable
from sless.local.runner.functions import Functions
from sless.local.runner.interpreters import Interpreters
from sless.local.runner.jobs import Jobs
from sless.local.runner.processes import end_all, find_marked
from sless.local.runner.settings import RunnerSettings
from sless.model.deployment import Deployment
from sless.model.instance import Instance
from sless.model.routed import Routed

RESYNC_SECONDS = 5.0
"""Tables are looked at so often even if nothing was written."""
_RETRY_SECONDS = 1.0
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Rows:
    jobs: list[Job]
    deployments: list[Deployment]
    instances: list[Instance]
    routes: list[Routed]


def _read_rows(connection: sqlite3.Connection) -> _Rows:
    return _Rows(
        jobs=list_jobs(connection),
        deployments=list_deployments(connection),
        instances=list_instances(connection),
        routes=list_routes(connection),
    )


class Runner:
    """Runs one home's jobs and functions; at most one at a time, in the main thread's loop."""

    def __init__(self, database: Database, images: BundleImages, settings: RunnerSettings) -> None:
        self._database = database
        self._images = images
        self._settings = settings
        self._woken = asyncio.Event()
        self._prepared = False
        interpreters = Interpreters(settings.interpreters)
        wake = self._woken.set
        self._jobs = Jobs(database, settings, interpreters, wake=wake)
        self._functions = Functions(database, images, settings, interpreters, wake=wake)

    async def prepare(self) -> None:
        """Ends what an unclean stop left running, and settles its rows.

        Nothing may be routed before: the rows of an earlier runner name ports that are dead.
        """
        mark = self._settings.mark()
        if not await asyncio.to_thread(end_all, lambda: list(find_marked(mark)), reaping=False):
            raise InternalError("Processes of an earlier runner could not be ended.")
        await asyncio.to_thread(self._images.trees.sweep)
        rows = await self._database.read(_read_rows)
        await self._jobs.recover(rows.jobs)
        await self._functions.recover(rows.instances)
        self._prepared = True

    async def run(self) -> None:
        """Prepares, if that was not done, and runs until cancelled; nothing is left running."""
        if not self._prepared:
            await self.prepare()
        follow = asyncio.create_task(self._follow_changes())
        try:
            while True:
                await self._woken.wait()
                self._woken.clear()
                await self._reconcile()
        finally:
            follow.cancel()
            await asyncio.gather(self._jobs.close(), self._functions.close())

    async def _reconcile(self) -> None:
        try:
            rows = await self._database.read(_read_rows)
        except StoreUnavailable as error:
            _log.warning("the store cannot be read", error=error.message)
            await asyncio.sleep(_RETRY_SECONDS)
            self._woken.set()
            return
        self._jobs.reconcile(rows.jobs)
        self._functions.reconcile(rows.deployments, rows.routes)

    async def _follow_changes(self) -> None:
        while True:
            try:
                async for _ in self._database.changes(resync=RESYNC_SECONDS):
                    self._woken.set()
            except StoreUnavailable as error:
                _log.warning("the store cannot be watched", error=error.message)
                await asyncio.sleep(_RETRY_SECONDS)
