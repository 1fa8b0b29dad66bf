"""Deployments in SQLite: compare-and-swap by uid and version, judged from the runner's rows."""

import sqlite3
import time
import uuid
from dataclasses import replace

from sless.adapters.sqlite.availability import judge
from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.instances import find_instance
from sless.adapters.sqlite.revisions import (
    parse_note,
    parse_revision,
    render_note,
    render_revision,
)
from sless.adapters.sqlite.schema import next_version
from sless.errors import AlreadyExists, InternalError, OwnerGone, VersionConflict
from sless.model.deployment import Deployment
from sless.model.function import Ask

_SELECT = "SELECT * FROM deployments"


def list_deployments(connection: sqlite3.Connection) -> list[Deployment]:
    """All of them by namespace and name, not judged: what the runner is to run."""
    found = connection.execute(f"{_SELECT} ORDER BY namespace, name")
    return [_parse(row) for row in found]


class SqliteDeployments:
    """The port `Deployments` on the home's database.

    Args:
        database: The home's.
        progress_deadline: Seconds that an instance may take to become ready.
    """

    def __init__(self, database: Database, *, progress_deadline: float) -> None:
        self._database = database
        self._progress_deadline = progress_deadline

    async def find(self, namespace: str, name: str) -> Deployment | None:
        """A function's Deployment with its present availability, or none."""
        return await self._database.read(
            _find_judged, namespace, name, deadline=self._progress_deadline
        )

    async def create(self, deployment: Deployment) -> Deployment:
        """Creates it for the Function of `deployment.ask.uid`.

        Raises `AlreadyExists`; `OwnerGone` when that Function is not there.
        """
        return await self._database.write(_create, deployment)

    async def swap(self, deployment: Deployment) -> Deployment:
        """Writes ask, revision, good and failed over exactly the uid and version that were read.

        Raises `VersionConflict` when either differs, the Deployment is gone, or the ask would go
        backwards.
        """
        return await self._database.write(_swap, deployment)

    async def delete(self, deployment: Deployment) -> None:
        """Deletes the Deployment of that uid; another or none there is no error."""
        await self._database.write(_delete, deployment)


def _find(connection: sqlite3.Connection, namespace: str, name: str) -> Deployment | None:
    row = connection.execute(
        f"{_SELECT} WHERE namespace = ? AND name = ?", (namespace, name)
    ).fetchone()
    return None if row is None else _parse(row)


def _find_judged(
    connection: sqlite3.Connection, namespace: str, name: str, *, deadline: float
) -> Deployment | None:
    deployment = _find(connection, namespace, name)
    if deployment is None:
        return None
    instance = find_instance(
        connection, deployment_uid=deployment.uid, instance=deployment.revision.instance
    )
    return replace(
        deployment,
        availability=judge(instance, good=deployment.is_good, deadline=deadline, now=time.time()),
    )


def _create(connection: sqlite3.Connection, deployment: Deployment) -> Deployment:
    where = f"{deployment.namespace}/{deployment.name}"
    owner = connection.execute(
        "SELECT 1 FROM functions WHERE uid = ? AND namespace = ? AND name = ?",
        (deployment.ask.uid, deployment.namespace, deployment.name),
    ).fetchone()
    if owner is None:
        raise OwnerGone(f"Function {where} of uid {deployment.ask.uid} was deleted.")
    if _find(connection, deployment.namespace, deployment.name) is not None:
        raise AlreadyExists(f"The Deployment of {where} exists already.")
    return _write(connection, replace(deployment, uid=str(uuid.uuid4())))


def _swap(connection: sqlite3.Connection, deployment: Deployment) -> Deployment:
    where = f"The Deployment of {deployment.namespace}/{deployment.name}"
    present = _find(connection, deployment.namespace, deployment.name)
    if present is None:
        raise VersionConflict(f"{where} is gone.")
    if (present.uid, present.resource_version) != (deployment.uid, deployment.resource_version):
        raise VersionConflict(f"{where} changed since it was read: read it again.")
    if present.ask.uid != deployment.ask.uid:
        raise VersionConflict(f"{where} belongs to another Function of that name.")
    if present.ask.generation > deployment.ask.generation:
        raise VersionConflict(
            f"{where} serves generation {present.ask.generation} already, which is newer than "
            f"{deployment.ask.generation}."
        )
    wanted = replace(deployment, availability=present.availability)
    return present if wanted == present else _write(connection, wanted)


def _write(connection: sqlite3.Connection, deployment: Deployment) -> Deployment:
    version = next_version(connection)
    connection.execute(
        "INSERT OR REPLACE INTO deployments (namespace, name, uid, resource_version, ask_uid,"
        " ask_generation, revision, good, good_generation, failed)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            deployment.namespace,
            deployment.name,
            deployment.uid,
            version,
            deployment.ask.uid,
            deployment.ask.generation,
            render_revision(deployment.revision),
            None if deployment.good is None else render_revision(deployment.good),
            deployment.good_generation,
            None if deployment.failed is None else render_note(deployment.failed),
        ),
    )
    return replace(deployment, resource_version=str(version))


def _delete(connection: sqlite3.Connection, deployment: Deployment) -> None:
    connection.execute(
        "DELETE FROM deployments WHERE namespace = ? AND name = ? AND uid = ?",
        (deployment.namespace, deployment.name, deployment.uid),
    )


def _parse(row: sqlite3.Row) -> Deployment:
    try:
        return Deployment(
            namespace=row["namespace"],
            name=row["name"],
            ask=Ask(row["ask_uid"], row["ask_generation"]),
            revision=parse_revision(row["revision"]),
            good=None if row["good"] is None else parse_revision(row["good"]),
            good_generation=row["good_generation"],
            failed=None if row["failed"] is None else parse_note(row["failed"]),
            uid=row["uid"],
            resource_version=str(row["resource_version"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InternalError(
            f"The stored Deployment of {row['namespace']}/{row['name']} cannot be read ({error}): "
            "delete the Function and deploy it again."
        ) from error
