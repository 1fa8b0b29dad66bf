"""The builder of the embedded home: a Job is a row that the runner carries out."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.jobs import Job, JobSpec, find_job, insert_job, want_job_deleted
from sless.errors import AlreadyExists, BuildLost, RunnerUnavailable
from sless.model.attempt import Attempt, AttemptState, AttemptStatus, LogChunk
from sless.naming import job_name

DELETE_SECONDS = 60.0
"""How long the runner may take to end a Job, a restart of its own included."""
_POLL_SECONDS = 0.05


class BundleBuilder:
    """`Builder` on the home's table of jobs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ensure(self, attempt: Attempt, *, context_url: str) -> None:
        """See the port; raises `AlreadyExists` when the Job is another attempt's."""
        wanted = _render(attempt, context_url)
        if await self._database.write(insert_job, wanted):
            return
        present = await self._database.read(find_job, wanted.name)
        if present and _labels(present) != _labels(wanted):
            raise AlreadyExists(f"The job {wanted.name} belongs to another attempt.")

    async def status(self, attempt: Attempt) -> AttemptStatus:
        """See the port."""
        job = await self._database.read(find_job, _name(attempt))
        if job is None:
            return AttemptStatus(
                AttemptState.FAILED, reason=BuildLost.reason, message="The job is gone."
            )
        return AttemptStatus(job.state, digest=job.digest, reason=job.reason, message=job.message)

    async def read_log(
        self, attempt: Attempt, *, offsets: dict[str, int], limit: int
    ) -> Sequence[LogChunk]:
        """See the port; containers are `fetch`, `build` and `push`."""
        job = await self._database.read(find_job, _name(attempt))
        if job is None or not job.log:
            return []
        return await asyncio.to_thread(_read_chunks, Path(job.log), offsets, limit)

    async def delete(self, attempt: Attempt) -> None:
        """See the port; returns when its processes have ended.

        Raises `RunnerUnavailable` when the runner does not get to it.
        """
        await self._database.write(want_job_deleted, _name(attempt))
        deadline = time.monotonic() + DELETE_SECONDS
        while await self._database.read(find_job, _name(attempt)):
            if time.monotonic() > deadline:
                raise RunnerUnavailable(f"The runner does not end the job {_name(attempt)}.")
            await asyncio.sleep(_POLL_SECONDS)


def _name(attempt: Attempt) -> str:
    return job_name(attempt.name, attempt.build, attempt.nonce)


def _render(attempt: Attempt, context_url: str) -> Job:
    spec = JobSpec(
        context_url=context_url,
        context_sha256=attempt.context_sha256,
        runtime=attempt.runtime,
        rebuild=attempt.rebuild,
        deadline_seconds=attempt.deadline_seconds,
    )
    return Job(
        name=_name(attempt),
        namespace=attempt.namespace,
        function=attempt.name,
        uid=attempt.uid,
        build=attempt.build,
        nonce=attempt.nonce,
        spec=spec,
    )


def _labels(job: Job) -> tuple[str, ...]:
    return (job.namespace, job.function, job.uid, job.build, job.nonce)


def _read_chunks(folder: Path, offsets: dict[str, int], limit: int) -> list[LogChunk]:
    chunks = []
    for path in sorted(folder.glob("*.log"), key=lambda path: path.stat().st_ctime_ns):
        start = offsets.get(path.stem, 0)
        with path.open("rb") as file:
            file.seek(start)
            data = file.read(limit)
        if data:
            chunks.append(LogChunk(path.stem, start, data))
    return chunks
