"""The tables of home.db, and the version that its file carries."""

import sqlite3
from pathlib import Path

from sless.errors import StoreUnavailable

SCHEMA_VERSION = 1
"""Written to `PRAGMA user_version`; a file with a higher one is refused."""

_TABLES = """
CREATE TABLE version (  -- the newest resourceVersion of all; never reused, deletions included
    only INTEGER PRIMARY KEY CHECK (only = 1),
    last INTEGER NOT NULL
) STRICT;
INSERT INTO version VALUES (1, 0);

CREATE TABLE functions (  -- spec: the API; status: the watcher
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    uid TEXT NOT NULL UNIQUE,
    generation INTEGER NOT NULL,
    resource_version INTEGER NOT NULL,
    manifest TEXT NOT NULL,  -- JSON: metadata with managedFields, spec, status
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE deployments (  -- activities; deleted with their function
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    uid TEXT NOT NULL UNIQUE,
    resource_version INTEGER NOT NULL,
    ask_uid TEXT NOT NULL REFERENCES functions (uid) ON DELETE CASCADE,
    ask_generation INTEGER NOT NULL,
    revision TEXT NOT NULL,  -- JSON
    good TEXT,               -- JSON: the revision last marked good
    good_generation INTEGER NOT NULL DEFAULT 0,
    failed TEXT,             -- JSON: the note
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX deployments_by_ask ON deployments (ask_uid);

CREATE TABLE instances (  -- the runner; they outlive their deployment until it stopped them
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    deployment_uid TEXT NOT NULL,
    instance TEXT NOT NULL,  -- Revision.instance
    revision TEXT NOT NULL,  -- JSON
    state TEXT NOT NULL CHECK (state IN ('Starting', 'Ready', 'Draining', 'Stopped', 'Crashed')),
    port INTEGER NOT NULL DEFAULT 0,
    pid INTEGER NOT NULL DEFAULT 0,
    restarts INTEGER NOT NULL DEFAULT 0,
    reason TEXT NOT NULL DEFAULT '',
    message TEXT NOT NULL DEFAULT '',
    since REAL NOT NULL,     -- seconds since the epoch
    PRIMARY KEY (deployment_uid, instance)
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (  -- inserted and `wanted` by the builder, the rest by the runner
    name TEXT NOT NULL PRIMARY KEY,
    namespace TEXT NOT NULL,
    function TEXT NOT NULL,
    uid TEXT NOT NULL,       -- the Function's
    build TEXT NOT NULL,
    nonce TEXT NOT NULL,
    spec TEXT NOT NULL,      -- JSON: context url and sha256, runtime, rebuild, deadline
    wanted TEXT NOT NULL DEFAULT 'run' CHECK (wanted IN ('run', 'delete')),
    state TEXT NOT NULL DEFAULT 'Pending',
    digest TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    message TEXT NOT NULL DEFAULT '',
    log TEXT NOT NULL DEFAULT ''  -- folder with one file per container
) STRICT, WITHOUT ROWID;

CREATE TABLE routes (  -- the gateway's writer, once Envoy took it
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    uid TEXT NOT NULL,       -- the Function's
    generation INTEGER NOT NULL,
    instance TEXT NOT NULL,
    port INTEGER NOT NULL,
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;
"""


def ensure_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Makes the tables of a new file; raises `StoreUnavailable` on one of a newer schema."""
    if _version(connection, path) == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _version(connection, path) == 0:
            _create(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def next_version(connection: sqlite3.Connection) -> int:
    """A resourceVersion that nothing had before; within a write transaction."""
    row = connection.execute("UPDATE version SET last = last + 1 RETURNING last").fetchone()
    return int(row[0])


def _create(connection: sqlite3.Connection) -> None:
    # executescript would commit first, and with it lose the lock that keeps a second process out.
    for statement in _TABLES.split(";\n"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if found > SCHEMA_VERSION:
        raise StoreUnavailable(
            f"{path} was written by a newer sless (schema {found}, this one knows "
            f"{SCHEMA_VERSION}): upgrade sless, or start it on another data folder."
        )
    return found
