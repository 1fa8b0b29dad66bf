"""Rows of `routes`: which instance of a function Envoy sends requests to, told by the gateway.

A row is written only after Envoy took it: `await database.write(upsert_route, route)`.
"""

import sqlite3
from dataclasses import astuple

from sless.model.routed import Routed


def list_routes(connection: sqlite3.Connection) -> list[Routed]:
    """All of them, by namespace and name."""
    return [_parse(row) for row in connection.execute(f"{_SELECT} ORDER BY namespace, name")]


def find_route(connection: sqlite3.Connection, namespace: str, name: str) -> Routed | None:
    """A function's, or none."""
    row = connection.execute(
        f"{_SELECT} WHERE namespace = ? AND name = ?", (namespace, name)
    ).fetchone()
    return None if row is None else _parse(row)


def upsert_route(connection: sqlite3.Connection, route: Routed) -> None:
    """Writes the whole row."""
    connection.execute("INSERT OR REPLACE INTO routes VALUES (?, ?, ?, ?, ?, ?)", astuple(route))


def delete_route(connection: sqlite3.Connection, namespace: str, name: str) -> None:
    """Deletes the row; none there is no error."""
    connection.execute("DELETE FROM routes WHERE namespace = ? AND name = ?", (namespace, name))


_SELECT = "SELECT namespace, name, uid, generation, instance, port FROM routes"


def _parse(row: sqlite3.Row) -> Routed:
    return Routed(*row)
