"""Runs one untrusted command of a build, and ends whatever it started."""

import contextlib
import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sless.adapters.bundles.installer import Command
from sless.adapters.bundles.verdict import Finished
from sless.errors import BuildTimedOut, InternalError, OutOfMemory
from sless.local.runner.job_log import JobLog
from sless.local.runner.processes import die_with_parent, end_all, find_descendants

_LOOK_SECONDS = 0.2
"""Between two looks at deadline and memory."""
_CHUNK = 64 * 1024
_NICENESS = 10
"""Functions that answer requests go first."""
_FILE_BYTES = 8 * 1024**3
"""Of one file: above any package, below a disk."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a build may take."""

    deadline: float
    """By `time.monotonic()`."""
    seconds: float
    """From the start to the deadline, for the message."""
    memory_bytes: int

    def check_deadline(self) -> None:
        """Raises `BuildTimedOut`."""
        if time.monotonic() > self.deadline:
            raise BuildTimedOut(
                f"The build took longer than {self.seconds:g} s; name fewer or prebuilt "
                "dependencies, or raise SLESS_DEADLINES__BUILD."
            )

    def check_memory(self) -> None:
        """Raises `OutOfMemory`; counts what this process started."""
        taken = sum(stat.resident for stat in find_descendants(os.getpid()))
        if taken > self.memory_bytes:
            raise OutOfMemory(
                f"The build needed more than its {self.memory_bytes // 1024**2} MiB of memory; "
                "name smaller or prebuilt dependencies, or raise SLESS_LIMITS__BUILD_MEMORY_BYTES."
            )


@dataclass(frozen=True, slots=True)
class Execution:
    """Runs commands for a build; this process must be a subreaper that waits for nobody else."""

    environment: Mapping[str, str]
    log: JobLog
    bounds: Bounds

    def run(self, command: Command) -> Finished:
        """Runs it to its end; raises `BuildTimedOut` or `OutOfMemory`."""
        self.log.forget_tail()
        die = die_with_parent(signal.SIGKILL)
        try:
            with subprocess.Popen(  # noqa: S603 - what a build is for
                command.arguments,
                cwd=command.folder,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: _confine(die),  # noqa: PLW1509 - this process has one thread
            ) as process:
                try:
                    self._follow(process)
                finally:
                    process.kill()
                    process.wait()
                    end_descendants()
        except OSError as error:
            raise InternalError(f"{command.arguments[0]} cannot be run: {error}.") from error
        return Finished(process.returncode, self.log.tail)

    def _follow(self, process: "subprocess.Popen[bytes]") -> None:
        """Until it has ended: one that it left behind may hold its output open for ever."""
        assert process.stdout  # noqa: S101 - a pipe was asked for
        pipe, looked, open_ = process.stdout.fileno(), time.monotonic(), True
        while process.poll() is None or (open_ and _readable(pipe, 0)):
            if open_ and _readable(pipe, _LOOK_SECONDS):
                data = os.read(pipe, _CHUNK)
                open_ = bool(data)
                self.log.write(data)
            elif not open_:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK_SECONDS)
            if time.monotonic() - looked >= _LOOK_SECONDS:
                self.bounds.check_deadline()
                self.bounds.check_memory()
                looked = time.monotonic()


def end_descendants(find: Callable[[], list[int]] | None = None) -> None:
    """Kills every process below this one, those that moved to sessions of their own included."""

    def living() -> list[int]:
        return [stat.pid for stat in find_descendants(os.getpid()) if stat.state != "Z"]

    if not end_all(find or living):
        raise InternalError("A build's processes could not be ended.")


def _readable(pipe: int, seconds: float) -> bool:
    return bool(select.select([pipe], [], [], seconds)[0])


def _confine(die: Callable[[], None]) -> None:
    die()
    os.nice(_NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
