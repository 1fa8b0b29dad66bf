"""The gateway's writer: tells Envoy where functions listen, and notes what Envoy took."""

import asyncio
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

import structlog

from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.deployments import list_deployments
from sless.adapters.sqlite.instances import list_instances
from sless.adapters.sqlite.routes import delete_route, list_routes, upsert_route
from sless.errors import GatewayUnavailable, InternalError, StoreUnavailable
from sless.gateway.files import GatewayFiles
from sless.gateway.route import Route
from sless.local.runner.function_process import HOST
from sless.local.runner.routing import compute_routing
from sless.local.runner.rows import persist
from sless.model.deployment import Deployment
from sless.model.instance import Instance
from sless.model.routed import Routed

_POLL_SECONDS = 0.02
"""A new revision's first request waits for this, and for Envoy."""
_RESYNC_SECONDS = 5.0
_APPLY_SECONDS = 10.0
"""Envoy takes 10 000 functions in 3 s; what takes longer is tried again."""
_RETRY_SECONDS = 1.0
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Rows:
    deployments: list[Deployment]
    instances: list[Instance]
    routes: list[Routed]


def _read_rows(connection: sqlite3.Connection) -> _Rows:
    return _Rows(
        deployments=list_deployments(connection),
        instances=list_instances(connection),
        routes=list_routes(connection),
    )


class GatewayRole:
    """Writes one home's routes; what changes while Envoy takes some is taken together next."""

    def __init__(self, database: Database, files: GatewayFiles) -> None:
        self._database = database
        self._files = files
        self._applied: tuple[Route, ...] | None = None

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                async for _ in self._database.changes(poll=_POLL_SECONDS, resync=_RESYNC_SECONDS):
                    await self.reconcile()
            except (StoreUnavailable, GatewayUnavailable, InternalError) as error:
                _log.warning("routes are late", reason=error.reason, error=error.message)
                self._applied = None
                await asyncio.sleep(_RETRY_SECONDS)

    async def reconcile(self) -> None:
        """Has Envoy route what is ready now, and notes it.

        Raises `StoreUnavailable`, `GatewayUnavailable`, or `InternalError` when Envoy refuses.
        """
        rows = await self._database.read(_read_rows)
        routing = compute_routing(rows.deployments, rows.instances, rows.routes, host=HOST)
        if routing.routes != self._applied:
            version = await asyncio.to_thread(self._files.apply, routing.routes)
            await self._files.wait_applied(version, _APPLY_SECONDS)
            self._applied = routing.routes
        if set(routing.routed) != set(rows.routes):
            await persist(self._database, _replace_routes, rows.routes, routing.routed)


def _replace_routes(
    connection: sqlite3.Connection, old: Iterable[Routed], new: Iterable[Routed]
) -> None:
    kept = set(new)
    for row in set(old) - kept:
        delete_route(connection, row.namespace, row.name)
    for row in kept - set(old):
        upsert_route(connection, row)
