"""One run of a part: started on a leash, logged, noted in a pid file, ended with its group."""

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from pathlib import Path

from sless.local.leash import leashed
from sless.local.part import Part
from sless.local.pidfile import signal_group, write_pid_file
from sless.local.rotation import RotatingLog

_CHUNK = 64 * 1024
_PIPE_SECONDS = 1.0
"""How long a grandchild may hold the pipe after the part's own end."""


class Process:
    """A running part. Made by `start_process`."""

    def __init__(
        self, process: asyncio.subprocess.Process, *, log: RotatingLog, pid_file: Path
    ) -> None:
        self._process = process
        self._log = log
        self._pid_file = pid_file
        self._pump = asyncio.create_task(self._copy_output())

    @property
    def pid(self) -> int:
        """Its pid, which is also its process group's."""
        return self._process.pid

    async def wait(self) -> int:
        """Waits for its end and ends its group; the exit code, negative for a signal."""
        code = await self._process.wait()
        signal_group(self.pid, signal.SIGKILL)
        await asyncio.wait([self._pump], timeout=_PIPE_SECONDS)
        self._pump.cancel()
        with contextlib.suppress(OSError):  # whoever reads it sees by the start that it is stale
            self._pid_file.unlink()
        return code

    def terminate(self) -> None:
        """Asks it to end; what it started is its own to end."""
        if self._process.returncode is None:
            self._process.terminate()

    def kill(self) -> None:
        """Ends it and its group at once."""
        signal_group(self.pid, signal.SIGKILL)

    async def _copy_output(self) -> None:
        if self._process.stdout is None:
            return
        while chunk := await self._process.stdout.read(_CHUNK):
            self._log.write(chunk)


async def start_process(part: Part, *, log: RotatingLog, pid_file: Path) -> Process:
    """Starts the part in a session of its own; raises OSError when the system has no room for it.

    Call from the main thread: see `leash`.
    """
    log.begin()
    if part.ready_file is not None:
        part.ready_file.unlink(missing_ok=True)
    process = await asyncio.create_subprocess_exec(
        *leashed(part.command, parent=os.getpid()),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=STDOUT,
        env=dict(part.env),
        cwd=part.folder,
        start_new_session=True,  # the terminal's Ctrl-C is for the supervisor alone
    )
    with contextlib.suppress(OSError):  # a full disk must not stop a part; its leash ends it, too
        write_pid_file(pid_file, process.pid)
    return Process(process, log=log, pid_file=pid_file)


def describe_end(code: int) -> str:
    """What an exit code says, as a sentence's second half."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
