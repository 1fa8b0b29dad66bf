"""Keeps one part running until it is told to stop."""

import asyncio
from pathlib import Path

from sless.local.last_words import readable
from sless.local.part import Part, PartEnded, PartReady, PartStopped, Report
from sless.local.process import Process, describe_end, start_process
from sless.local.rotation import RotatingLog

_POLL_SECONDS = 0.05
_FIRST_DELAY = 0.2
_LONGEST_DELAY = 10.0
_SETTLED_SECONDS = 20.0
"""A part that served so long starts again as if for the first time."""
_START_TRIES = 3
"""Ends in a row before it was ever ready, after which the home does not come up."""
_LAST_LINES = 12


class PartFailed(Exception):
    """A part did not come up; the message is for people and has its last lines."""


class Keeper:
    """One part, its process and its log."""

    def __init__(self, part: Part, *, log: RotatingLog, pid_file: Path, report: Report) -> None:
        self.part = part
        self.ready = asyncio.Event()
        """Set when the part was ready for the first time."""
        self.pid = 0
        self._log = log
        self._pid_file = pid_file
        self._report = report
        self._process: Process | None = None
        self._kept = False
        self._late = False
        self._stopping = asyncio.Event()
        self._ended = asyncio.Event()

    async def keep(self) -> None:
        """Runs the part, again and again, until `stop`; raises `PartFailed`."""
        in_a_row = 0
        self._kept = True
        try:
            while not self._stopping.is_set():
                how, served = await self._run_once()
                if self._stopping.is_set():
                    return
                in_a_row = 1 if served > _SETTLED_SECONDS else in_a_row + 1
                await self._pause(how, in_a_row)
        finally:
            self._ended.set()

    async def stop(self, hurry: asyncio.Event) -> None:
        """Ends the part: SIGTERM, and SIGKILL in time or when `hurry` is set."""
        self._stopping.set()
        if not self._kept or self._ended.is_set():
            return
        if self._process is not None:
            self._process.terminate()
        await _wait_any(self._ended, hurry, timeout=self.part.stop_seconds)
        killed = not self._ended.is_set()
        if killed and self._process is not None:
            self._process.kill()
        await self._ended.wait()
        self._report(PartStopped(self.part.name, killed and not self.part.may_be_killed))

    async def _run_once(self) -> tuple[str, float]:
        """One run: how it ended, and how long it lasted in seconds."""
        clock = asyncio.get_running_loop().time
        began, self._late = clock(), False
        try:
            process = await start_process(self.part, log=self._log, pid_file=self._pid_file)
        except OSError as error:
            return f"could not be started: {error}", 0.0
        self._process, self.pid = process, process.pid
        if self._stopping.is_set():
            process.terminate()  # `stop` came while the process was being made
        watch = asyncio.create_task(self._watch(process))
        try:
            code = await process.wait()
        except asyncio.CancelledError:
            process.kill()
            raise
        finally:
            watch.cancel()
            self._process = None
        return self._describe(code), clock() - began

    async def _watch(self, process: Process) -> None:
        """Tells when the process is ready, and ends one that does not become so."""
        clock = asyncio.get_running_loop().time
        began = clock()
        while not await self.part.ready():
            if clock() - began > self.part.start_seconds:
                self._late = True
                process.kill()
                return
            await asyncio.sleep(_POLL_SECONDS)
        if not self._stopping.is_set():
            again = self.ready.is_set()
            self.ready.set()
            self._report(PartReady(self.part.name, process.pid, clock() - began, again))

    async def _pause(self, how: str, in_a_row: int) -> None:
        lines = tuple(map(readable, self._log.last_lines(_LAST_LINES)))
        if not self.ready.is_set() and (self._late or in_a_row >= _START_TRIES):
            raise PartFailed(_sentence(f"{self.part.name} {how}", lines))
        delay = min(_FIRST_DELAY * 2 ** (in_a_row - 1), _LONGEST_DELAY)
        self._report(PartEnded(self.part.name, how, delay, in_a_row, lines))
        await _wait_any(self._stopping, timeout=delay)

    def _describe(self, code: int) -> str:
        if self._late:
            return f"was not ready after {self.part.start_seconds:g} s"
        return describe_end(code)


def _sentence(what: str, lines: tuple[str, ...]) -> str:
    if not lines:
        return f"{what}; it said nothing."
    return f"{what}. Its last lines:\n" + "\n".join(f"  {line}" for line in lines)


async def _wait_any(*events: asyncio.Event, timeout: float) -> None:  # noqa: ASYNC109 - expiry is no error
    tasks = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(tasks, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
