"""Keeps the one process of a revision running until it is told to stop."""

import asyncio
import contextlib
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import structlog

from sless.adapters.sqlite.instances import delete_instance, upsert_instance
from sless.errors import FunctionCrashed, InternalError, SlessError
from sless.local.ports import PortReservations
from sless.local.runner.child import Child
from sless.local.runner.crash import Crash, find_crash
from sless.local.runner.function_process import HOST, TERMINATION_LOG
from sless.local.runner.last_lines import LastLines
from sless.local.runner.probe import is_ready
from sless.local.runner.rows import persist
from sless.local.runner.starting import Surroundings, start_revision
from sless.model.deployment import Deployment
from sless.model.function import FunctionRef
from sless.model.instance import Instance, InstanceState

FIRST_BACKOFF_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 60.0
_HEALED_SECONDS = 30.0
"""One that was ready for so long starts again as if for the first time."""
_SETTLE_SECONDS = 1.0
"""Envoy's workers take a new route within milliseconds; requests on their way need some more."""
_AFTER_DRAIN_SECONDS = 2.0
"""A process that drains in time also has to leave."""
_FIRST_PROBE_SECONDS = 0.02
_LONGEST_PROBE_SECONDS = 0.5
_STARTING_SECONDS = 10.0
"""A process that takes longer to become ready lets the next one start beside it."""
_log = structlog.get_logger()


class RunningInstance:
    """A revision's process, again and again; `run` returns when it has ended for good."""

    def __init__(self, deployment: Deployment, around: Surroundings) -> None:
        self._around = around
        self._function = FunctionRef(deployment.namespace, deployment.name)
        self._folder = around.folder(deployment)
        self._row = Instance(
            namespace=deployment.namespace,
            name=deployment.name,
            deployment_uid=deployment.uid,
            revision=deployment.revision,
            state=InstanceState.STARTING,
            since=time.time(),
        )
        self._stop = asyncio.Event()
        self._ready_at: float | None = None

    @property
    def state(self) -> InstanceState:
        """How it fares."""
        return self._row.state

    def stop(self) -> None:
        """Has it end; what it is answering it may answer."""
        self._stop.set()

    async def run(self) -> None:
        """Runs it until `stop`; its row and its folder are gone then."""
        in_a_row = 0
        try:
            while not self._stop.is_set():
                crash = await self._run_once()
                if not self._stop.is_set():
                    in_a_row = 1 if self._has_healed() else in_a_row + 1
                    await self._note_crash(crash)
                    await self._pause(in_a_row)
        finally:
            await self._forget()

    async def _run_once(self) -> Crash:
        """One process from start to end; why it ended."""
        lines = LastLines()
        self._ready_at = None
        try:
            with _free_port() as port, self._around.logs.opened(self._function) as log:

                def write(data: bytes) -> None:
                    log.write(data)
                    lines.write(data)

                code = await self._live(port, write)
        except SlessError as error:
            return Crash(error.reason, error.message)
        except OSError as error:
            message = f"The function's process cannot be started: {error}."
            return Crash(FunctionCrashed.reason, message)
        except Exception:  # noqa: BLE001 - it would start again at once, for ever and unjudged
            _log.exception("a function failed by a defect", function=str(self._function))
            return Crash(InternalError.reason, "The function was lost by a defect of sless.")
        return find_crash(self._folder / TERMINATION_LOG, code=code, lines=lines.get())

    async def _live(self, port: int, write: Callable[[bytes], None]) -> int:
        async with self._around.starts:
            child = await start_revision(
                self._row.revision,
                around=self._around,
                folder=self._folder,
                port=port,
                write=write,
            )
            try:
                await self._note(InstanceState.STARTING, port=port, pid=child.pid)
                await self._probe(child, seconds=_STARTING_SECONDS)
            except BaseException:
                await child.end()
                raise
        try:
            await self._probe(child)
            await self._follow(child)
        finally:
            await child.end()
        return await child.wait()

    async def _probe(self, child: Child, *, seconds: float | None = None) -> None:
        """Until it is ready, has ended or is to stop, or the time is over."""
        pause = _FIRST_PROBE_SECONDS
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while child.running and self._ready_at is None and not self._stop.is_set():
                    if await is_ready(self._row.port):
                        self._ready_at = time.monotonic()
                        break
                    await asyncio.sleep(pause)
                    pause = min(pause * 1.3, _LONGEST_PROBE_SECONDS)
        if self._ready_at and self._row.state is InstanceState.STARTING and child.running:
            await self._note(InstanceState.READY)

    async def _follow(self, child: Child) -> None:
        """Until it has ended, by itself or told to."""
        ended = asyncio.create_task(child.wait())
        stop = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait([ended, stop], return_when=asyncio.FIRST_COMPLETED)
            if child.running:
                await self._drain(child)
        finally:
            ended.cancel()
            stop.cancel()

    async def _drain(self, child: Child) -> None:
        was_ready = self._row.state is InstanceState.READY
        # At once: as long as it counts as ready it may be routed to anew, and then it ends.
        await self._note(InstanceState.DRAINING)
        if was_ready:
            await child.wait_for_end(_SETTLE_SECONDS)
        child.terminate()
        await child.wait_for_end(self._around.settings.drain_seconds + _AFTER_DRAIN_SECONDS)

    def _has_healed(self) -> bool:
        return self._ready_at is not None and time.monotonic() - self._ready_at > _HEALED_SECONDS

    async def _note_crash(self, crash: Crash) -> None:
        _log.warning(
            "function ended by itself",
            function=str(self._function),
            instance=self._row.instance,
            reason=crash.reason,
            message=crash.message,
        )
        self._row = replace(
            self._row,
            restarts=self._row.restarts + 1,
            reason=crash.reason,
            message=crash.message,
        )
        await self._note(InstanceState.CRASHED)

    async def _note(self, state: InstanceState, *, port: int = 0, pid: int = 0) -> None:
        """Writes the new state; a ready one has nothing to complain of, a crashed one no port."""
        row = replace(self._row, state=state, since=time.time())
        match state:
            case InstanceState.STARTING:
                row = replace(row, port=port, pid=pid)
            case InstanceState.READY:
                row = replace(row, reason="", message="")
            case InstanceState.CRASHED:
                row = replace(row, port=0, pid=0)
        self._row = row
        await persist(self._around.database, upsert_instance, row)

    async def _pause(self, in_a_row: int) -> None:
        seconds = min(FIRST_BACKOFF_SECONDS * 2 ** (in_a_row - 1), LONGEST_BACKOFF_SECONDS)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stop.wait()

    async def _forget(self) -> None:
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
        await persist(
            self._around.database,
            delete_instance,
            deployment_uid=self._row.deployment_uid,
            instance=self._row.instance,
        )


@contextlib.contextmanager
def _free_port() -> Iterator[int]:
    """A port that stays ours in the range where no outgoing connection takes it."""
    ports = PortReservations()
    try:
        yield ports.pick(HOST)
    finally:
        ports.close()
