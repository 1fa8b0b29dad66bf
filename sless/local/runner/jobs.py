"""Carries out the rows of `jobs`: each is a process of its own."""

import asyncio
import contextlib
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from sless.adapters.bundles.environment import render_installer_environment
from sless.adapters.bundles.interpreter import Interpreter
from sless.adapters.bundles.npm_environment import render_npm_environment
from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.jobs import Job, Wanted, delete_job, report_job
from sless.dependencies import Language
from sless.errors import BuildLost, InternalError, SlessError
from sless.local.layout import Layout
from sless.local.process import describe_end
from sless.local.rotation import RotatingLog
from sless.local.runner.child import Child, start_child
from sless.local.runner.interpreters import Interpreters
from sless.local.runner.job_order import DEFECT, JobOrder, JobResult, failed, find_result
from sless.local.runner.rows import persist
from sless.local.runner.settings import RunnerSettings
from sless.model.attempt import AttemptState
from sless.naming import attempt_tag

_OVERTIME_SECONDS = 30.0
"""A job ends itself at its deadline; one that does not is killed so much later."""
_STOP_SECONDS = 10.0
"""A job may take so long to end what it started."""
_KEPT_JOBS = 200
"""That have ended: their logs are in S3 by then, but a worker may have been away for a day."""
_ENDED = frozenset({AttemptState.SUCCEEDED, AttemptState.FAILED})
_OUTPUT_BYTES = 1024 * 1024
"""Of what a job's own process says, which is nothing unless it breaks."""
OUTPUT = "process.txt"
"""What a job's own process says, in its folder."""
_TOLD_CHARACTERS = 8_000
"""Of a defect's traceback, in the runner's log."""
_log = structlog.get_logger()


@dataclass(slots=True)
class _Running:
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None


class Jobs:
    """The jobs of one home; `reconcile` is called whenever the table may have changed."""

    def __init__(
        self,
        database: Database,
        settings: RunnerSettings,
        interpreters: Interpreters,
        *,
        wake: Callable[[], None],
    ) -> None:
        """`wake` asks for another `reconcile`."""
        self._database = database
        self._settings = settings
        self._interpreters = interpreters
        self._wake = wake
        self._layout = Layout(settings.data)
        self._running: dict[str, _Running] = {}

    async def recover(self, rows: Sequence[Job]) -> None:
        """Settles what an earlier runner left: nothing of it runs any more."""
        for job in rows:
            if job.state is AttemptState.RUNNING:
                result = find_result(self._folder(job)) or _lost("its runner was ended")
                await self._report(job, result)
        known = {job.name for job in rows}
        self._layout.jobs.mkdir(parents=True, exist_ok=True)
        for folder in self._layout.jobs.iterdir():
            if folder.name not in known:
                shutil.rmtree(folder, ignore_errors=True)

    def reconcile(self, rows: Sequence[Job]) -> None:
        """Starts what waits, in bounds, and ends what is not wanted."""
        for job in rows:
            running = self._running.get(job.name)
            if job.wanted is Wanted.DELETE:
                if running is None:
                    self._start(job, self._delete(job))
                else:
                    running.stop.set()
        self._start_waiting(rows)
        for job in self._superfluous(rows):
            self._start(job, self._delete(job))

    async def close(self) -> None:
        """Ends every job; the next runner finds them lost."""
        for running in self._running.values():
            running.stop.set()
        tasks = [running.task for running in self._running.values() if running.task]
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start_waiting(self, rows: Sequence[Job]) -> None:
        waiting = [job for job in rows if _waits(job) and job.name not in self._running]
        while waiting and len(self._running) < self._settings.builds:
            job = next_job(waiting, running=[job for job in rows if job.name in self._running])
            waiting.remove(job)
            self._start(job, self._run(job))

    def _superfluous(self, rows: Sequence[Job]) -> Sequence[Job]:
        """The oldest that have ended, beyond those kept for whoever reads their logs late."""
        ended = [job for job in rows if job.state in _ENDED and job.name not in self._running]
        return sorted(ended, key=self._ended_at, reverse=True)[_KEPT_JOBS:]

    def _ended_at(self, job: Job) -> float:
        try:
            return self._folder(job).stat().st_mtime
        except OSError:
            return 0.0

    def _start(self, job: Job, work: Coroutine[None, None, None]) -> None:
        running = _Running()
        self._running[job.name] = running
        running.task = asyncio.create_task(work, name=job.name)
        running.task.add_done_callback(lambda task: self._forget(job, task))

    def _forget(self, job: Job, task: "asyncio.Task[None]") -> None:
        del self._running[job.name]
        self._wake()
        if not task.cancelled() and task.exception():
            _log.error("a job was not followed to its end", job=job.name, exc_info=task.exception())

    async def _delete(self, job: Job) -> None:
        await asyncio.to_thread(shutil.rmtree, self._folder(job), ignore_errors=True)
        await persist(self._database, delete_job, job.name)

    async def _run(self, job: Job) -> None:
        await self._report(job, JobResult(AttemptState.RUNNING))
        result = await self._result(job)
        await self._report(job, result)
        _log.info("job ended", job=job.name, state=result.state, reason=result.reason)

    async def _result(self, job: Job) -> JobResult:
        try:
            _make_empty(self._folder(job))
            interpreter = await self._interpreters.get(job.spec.runtime)
            how = await self._carry_out(job, interpreter)
        except SlessError as error:
            return failed(error)
        except OSError as error:
            return failed(BuildLost(f"The build's process could not be started: {error}."))
        except Exception:  # noqa: BLE001 - a row must not stay Running for ever
            _log.exception("a job failed by a defect", job=job.name)
            return failed(InternalError(DEFECT))
        result = find_result(self._folder(job)) or _lost(how)
        if result.reason == InternalError.reason:
            _tell_defect(self._folder(job), job.name)
        return result

    async def _carry_out(self, job: Job, interpreter: Interpreter) -> str:
        """Runs the job's process to its end; how it ended."""
        folder = self._folder(job)
        output = RotatingLog(folder / OUTPUT, limit=_OUTPUT_BYTES)
        child = start_child(
            (sys.executable, "-P", "-m", "sless.local.runner.job"),
            environ=self._environment(folder, interpreter),
            folder=folder,
            mark=self._settings.mark("job", job.name),
            write=output.write,
            given=self._order(job, interpreter).to_json(),
        )
        try:
            await self._follow(child, job)
        finally:
            await child.end()
            output.close()
        return f"its process {describe_end(await child.wait())}"

    async def _follow(self, child: Child, job: Job) -> None:
        """Until it ended, or was asked to end and had its time."""
        ended = asyncio.create_task(child.wait())
        stop = asyncio.create_task(self._running[job.name].stop.wait())
        seconds = job.spec.deadline_seconds + _OVERTIME_SECONDS
        try:
            await asyncio.wait([ended, stop], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            child.terminate()
            await asyncio.wait([ended], timeout=_STOP_SECONDS)
        finally:
            ended.cancel()
            stop.cancel()

    def _order(self, job: Job, interpreter: Interpreter) -> JobOrder:
        spec = job.spec
        return JobOrder(
            namespace=job.namespace,
            function=job.function,
            tag=attempt_tag(job.build, job.nonce),
            runtime=spec.runtime,
            rebuild=spec.rebuild,
            context_url=spec.context_url,
            context_sha256=spec.context_sha256,
            language=interpreter.language,
            interpreter=str(interpreter.path),
            platform=interpreter.platform,
            images=str(self._layout.images),
            folder=str(self._folder(job)),
            deadline_seconds=spec.deadline_seconds,
            memory_bytes=self._settings.build_memory_bytes,
            log_bytes=self._settings.build_log_bytes,
            parent=os.getpid(),
        )

    def _environment(self, folder: Path, interpreter: Interpreter) -> dict[str, str]:
        settings, cache = self._settings, self._layout.root / "cache"
        if interpreter.language is Language.NODE:
            return render_npm_environment(
                settings.environ,
                home=folder,
                cache=cache / "npm",
                registry=settings.npm_registry,
                node=interpreter.path,
            )
        return render_installer_environment(
            settings.environ, home=folder, cache=cache / "uv", index_url=settings.index_url
        )

    def _folder(self, job: Job) -> Path:
        return self._layout.jobs / job.name

    async def _report(self, job: Job, result: JobResult) -> None:
        await persist(
            self._database,
            report_job,
            job.name,
            state=result.state,
            digest=result.digest,
            reason=result.reason,
            message=result.message,
            log=str(self._folder(job)),
        )


def next_job(waiting: Sequence[Job], *, running: Sequence[Job]) -> Job:
    """The oldest of the namespace that has the fewest running: nobody waits for another's fifty."""
    taken = Counter(job.namespace for job in running)
    # Nonces start with the time.
    return min(waiting, key=lambda job: (taken[job.namespace], job.nonce, job.name))


def _waits(job: Job) -> bool:
    return job.state is AttemptState.PENDING and job.wanted is Wanted.RUN


def _make_empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)


def _tell_defect(folder: Path, name: str) -> None:
    """The traceback goes to the runner's log: a job's folder does not stay."""
    with contextlib.suppress(OSError):
        said = (folder / OUTPUT).read_text(errors="replace")
        _log.error("a job failed by a defect", job=name, said=said[-_TOLD_CHARACTERS:])


def _lost(how: str) -> JobResult:
    return failed(BuildLost(f"The build ended without a result: {how}."))
