"""What the watcher judges, read from home.db in one consistent view."""

import asyncio
import sqlite3
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from sless.adapters.sqlite import function_rows as rows
from sless.adapters.sqlite.availability import judge
from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.deployments import list_deployments
from sless.adapters.sqlite.instances import list_instances
from sless.adapters.sqlite.routes import list_routes
from sless.model.deployment import Deployment
from sless.model.instance import Instance
from sless.model.routed import Routed
from sless.ports.scene import Standing

Key = tuple[str, str]
"""Namespace and name."""


class SqliteScene:
    """The port `Scene` on the home's database.

    Args:
        database: The home's.
        progress_deadline: Seconds that an instance may take to become ready.
    """

    def __init__(self, database: Database, *, progress_deadline: float) -> None:
        self._database = database
        self._progress_deadline = progress_deadline
        self._changes: AsyncIterator[None] | None = None
        self._next: asyncio.Future[None] | None = None

    async def look(self) -> Sequence[Standing]:
        """All Functions, each with its judged Deployment and its route."""
        return await self._database.read(_look, deadline=self._progress_deadline)

    async def changed(self, *, seconds: float) -> bool:
        """Waits for a write by any process, at most so long; several become one."""
        if self._changes is None:
            self._changes = self._database.changes()
        if self._next is None:
            self._next = asyncio.ensure_future(anext(self._changes))
        done, _ = await asyncio.wait([self._next], timeout=seconds)
        if not done:
            return False
        waited, self._next = self._next, None
        if waited.exception() is not None:
            self._changes = None  # the watch has ended with it
        waited.result()
        return True

    async def close(self) -> None:
        """Ends the watch for changes."""
        if self._next is not None:
            self._next.cancel()
            with suppress(asyncio.CancelledError):
                await self._next
        if isinstance(self._changes, AsyncGenerator):
            await self._changes.aclose()


def _look(connection: sqlite3.Connection, *, deadline: float) -> list[Standing]:
    manifests = rows.list_manifests(connection, None, after=("", ""), limit=sys.maxsize)
    instances = {
        (found.deployment_uid, found.instance): found for found in list_instances(connection)
    }
    deployments = {
        (found.namespace, found.name): _judged(found, instances, deadline=deadline)
        for found in list_deployments(connection)
    }
    routes = {(found.namespace, found.name): found for found in list_routes(connection)}
    return [_standing(manifest, deployments=deployments, routes=routes) for manifest in manifests]


def _standing(
    manifest: dict[str, object],
    *,
    deployments: Mapping[Key, Deployment],
    routes: Mapping[Key, Routed],
) -> Standing:
    stored = rows.stored(manifest)
    key = (stored.function.namespace, stored.function.name)
    return Standing(stored, deployment=deployments.get(key), routed=routes.get(key))


def _judged(
    deployment: Deployment, instances: Mapping[Key, Instance], *, deadline: float
) -> Deployment:
    instance = instances.get((deployment.uid, deployment.revision.instance))
    judged = judge(instance, good=deployment.is_good, deadline=deadline, now=time.time())
    return replace(deployment, availability=judged)
