"""Rows of `instances`: the processes of revisions, written by the runner alone.

The functions take a connection, as `Database.read` and `Database.write` give it:
`await database.write(upsert_instance, instance)`.
"""

import sqlite3

from sless.adapters.sqlite.revisions import parse_revision, render_revision
from sless.model.instance import Instance, InstanceState


def list_instances(connection: sqlite3.Connection) -> list[Instance]:
    """All of them, by namespace and name."""
    rows = connection.execute("SELECT * FROM instances ORDER BY namespace, name, instance")
    return [_parse(row) for row in rows]


def find_instance(
    connection: sqlite3.Connection, *, deployment_uid: str, instance: str
) -> Instance | None:
    """One by its key, or none."""
    row = connection.execute(
        "SELECT * FROM instances WHERE deployment_uid = ? AND instance = ?",
        (deployment_uid, instance),
    ).fetchone()
    return None if row is None else _parse(row)


def upsert_instance(connection: sqlite3.Connection, instance: Instance) -> None:
    """Writes the whole row."""
    connection.execute(
        "INSERT OR REPLACE INTO instances (namespace, name, deployment_uid, instance, revision,"
        " state, port, pid, restarts, reason, message, since)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            instance.namespace,
            instance.name,
            instance.deployment_uid,
            instance.instance,
            render_revision(instance.revision),
            instance.state,
            instance.port,
            instance.pid,
            instance.restarts,
            instance.reason,
            instance.message,
            instance.since,
        ),
    )


def delete_instance(connection: sqlite3.Connection, *, deployment_uid: str, instance: str) -> None:
    """Deletes the row; none there is no error."""
    connection.execute(
        "DELETE FROM instances WHERE deployment_uid = ? AND instance = ?",
        (deployment_uid, instance),
    )


def _parse(row: sqlite3.Row) -> Instance:
    return Instance(
        namespace=row["namespace"],
        name=row["name"],
        deployment_uid=row["deployment_uid"],
        revision=parse_revision(row["revision"]),
        state=InstanceState(row["state"]),
        since=row["since"],
        port=row["port"],
        pid=row["pid"],
        restarts=row["restarts"],
        reason=row["reason"],
        message=row["message"],
    )
