"""Rows of `jobs`: the builder inserts them and says what it wants, the runner reports.

Two processes write one row, so each function writes only its side of it:
`await database.write(report_job, name, state=…)`.
"""

import json
import sqlite3
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from sless.model.attempt import AttemptState


class Wanted(StrEnum):
    """What the builder wants of a job."""

    RUN = "run"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class JobSpec:
    """What a job is to build, and within what."""

    context_url: str = field(repr=False)
    """Presigned: it must enter no log."""
    context_sha256: str
    runtime: str
    rebuild: int
    deadline_seconds: int


@dataclass(frozen=True, slots=True)
class Job:
    """One attempt at a build."""

    name: str
    namespace: str
    function: str
    uid: str
    """The Function's."""
    build: str
    nonce: str
    spec: JobSpec
    wanted: Wanted = Wanted.RUN
    state: AttemptState = AttemptState.PENDING
    digest: str = ""
    """`sha256:<hex>` once succeeded."""
    reason: str = ""
    message: str = ""
    log: str = ""
    """A folder with one file per container, once it runs."""


def list_jobs(connection: sqlite3.Connection) -> list[Job]:
    """All of them, by name."""
    return [_parse(row) for row in connection.execute("SELECT * FROM jobs ORDER BY name")]


def find_job(connection: sqlite3.Connection, name: str) -> Job | None:
    """One by its name, or none."""
    row = connection.execute("SELECT * FROM jobs WHERE name = ?", (name,)).fetchone()
    return None if row is None else _parse(row)


def insert_job(connection: sqlite3.Connection, job: Job) -> bool:
    """Inserts it; False when the name is taken, whose row stays as it is."""
    done = connection.execute(
        "INSERT OR IGNORE INTO jobs (name, namespace, function, uid, build, nonce, spec, wanted,"
        " state, digest, reason, message, log) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            job.name,
            job.namespace,
            job.function,
            job.uid,
            job.build,
            job.nonce,
            json.dumps(asdict(job.spec), sort_keys=True),
            job.wanted,
            job.state,
            job.digest,
            job.reason,
            job.message,
            job.log,
        ),
    )
    return done.rowcount == 1


def want_job_deleted(connection: sqlite3.Connection, name: str) -> None:
    """Asks the runner to end it and delete its row; none there is no error."""
    connection.execute("UPDATE jobs SET wanted = ? WHERE name = ?", (Wanted.DELETE, name))


def report_job(  # noqa: PLR0913  # a report has this many parts, all named
    connection: sqlite3.Connection,
    name: str,
    *,
    state: AttemptState,
    digest: str = "",
    reason: str = "",
    message: str = "",
    log: str = "",
) -> bool:
    """How it fares; False when the row is gone."""
    done = connection.execute(
        "UPDATE jobs SET state = ?, digest = ?, reason = ?, message = ?, log = ? WHERE name = ?",
        (state, digest, reason, message, log, name),
    )
    return done.rowcount == 1


def delete_job(connection: sqlite3.Connection, name: str) -> None:
    """Deletes the row; none there is no error."""
    connection.execute("DELETE FROM jobs WHERE name = ?", (name,))


def _parse(row: sqlite3.Row) -> Job:
    return Job(
        name=row["name"],
        namespace=row["namespace"],
        function=row["function"],
        uid=row["uid"],
        build=row["build"],
        nonce=row["nonce"],
        spec=JobSpec(**json.loads(row["spec"])),
        wanted=Wanted(row["wanted"]),
        state=AttemptState(row["state"]),
        digest=row["digest"],
        reason=row["reason"],
        message=row["message"],
        log=row["log"],
    )
