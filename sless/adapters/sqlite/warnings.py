"""Warnings from the runner's rows of a function's processes."""

import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.instances import list_instances
from sless.errors import FunctionCrashed
from sless.model.function import FunctionRef
from sless.model.instance import Instance, InstanceState
from sless.model.times import rfc3339
from sless.model.warning import HomeWarning, newest

_KEPT_SECONDS = 3600.0
"""For one that is well again; what is still wrong is told however long it has been."""


class SqliteWarnings:
    """The port `Warnings` on the home's database; of a build its status says all there is."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, function: FunctionRef, *, build: str) -> Sequence[HomeWarning]:
        """See the port."""
        del build
        rows = await self._database.read(list_instances)
        return find_warnings(
            (row for row in rows if FunctionRef(row.namespace, row.name) == function),
            now=time.time(),
        )


def find_warnings(rows: Iterable[Instance], *, now: float) -> tuple[HomeWarning, ...]:
    """What a function's processes went through: pure; `now` in seconds since the epoch."""
    return newest(_warn(row) for row in rows if _is_telling(row, now=now))


def _is_telling(row: Instance, *, now: float) -> bool:
    """One that is ready keeps its count of ends, one that drains is to end."""
    match row.state:
        case InstanceState.DRAINING:
            return False
        case InstanceState.READY:
            return row.restarts > 0 and now - row.since <= _KEPT_SECONDS
        case _:
            return bool(row.reason)


def _warn(row: Instance) -> HomeWarning:
    return HomeWarning(
        about=f"process {row.instance}",
        reason=row.reason or FunctionCrashed.reason,
        message=row.message or "The function's process ended by itself; another one serves now.",
        count=max(1, row.restarts),
        last_seen=rfc3339(datetime.fromtimestamp(row.since, UTC)),
    )
