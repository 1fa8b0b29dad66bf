"""A child process on the event loop: its output as it comes, its end, and the end of its tree.

No thread waits for it: two hundred idle functions cost two hundred file descriptors and no more.
"""

import asyncio
import contextlib
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from sless.errors import InternalError
from sless.local.leash import leashed
from sless.local.runner.processes import MARK, end_all, find_descendants, find_marked

_CHUNK = 64 * 1024
_CHUNKS_MAX = 16
"""As many as a pipe may hold where its user made it as large as Linux allows."""


class Child:
    """A running child. Made by `start_child`."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", *, mark: str, write: Callable[[bytes], None]
    ) -> None:
        self.pid = process.pid
        self._process = process
        self._mark = mark
        self._write = write
        self._ended = asyncio.Event()
        self._pidfd = os.pidfd_open(process.pid)
        loop = asyncio.get_running_loop()
        loop.add_reader(self._pidfd, self._note_end)
        self._output = process.stdout.fileno() if process.stdout else -1
        os.set_blocking(self._output, False)
        loop.add_reader(self._output, self._copy_output)

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return not self._ended.is_set()

    async def wait(self) -> int:
        """Waits for its end, and ends what it left behind; minus a signal's number, or the code."""
        await self._ended.wait()
        await self.end()
        return self._process.returncode

    async def wait_for_end(self, seconds: float) -> None:
        """Waits so long at most, and ends nothing."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ended.wait()

    def terminate(self) -> None:
        """Asks it to end."""
        if self.running:
            self._process.terminate()

    async def end(self) -> None:
        """Kills it and whatever it started, those that left its session included."""
        done = await asyncio.to_thread(end_all, self._family, reaping=False)
        await self._ended.wait()
        if not done:
            raise InternalError(f"The processes of {self._mark} could not be ended.")

    def _family(self) -> list[int]:
        below = [stat.pid for stat in find_descendants(self.pid) if stat.state != "Z"]
        own = [self.pid] if self.running else []
        return list({*own, *below, *find_marked(self._mark)})

    def _note_end(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        self._process.wait()
        self._drain_output()
        self._ended.set()

    def _copy_output(self) -> None:
        data = self._read()
        if data == b"":
            self._close_output()
        elif data:
            self._write(data)

    def _drain_output(self) -> None:
        """What is there now: one that it left behind may hold the pipe open, and fill it."""
        for _ in range(_CHUNKS_MAX):
            data = self._read() if self._output >= 0 else None
            if not data:
                break
            self._write(data)
        self._close_output()

    def _read(self) -> bytes | None:
        try:
            return os.read(self._output, _CHUNK)
        except BlockingIOError:
            return None

    def _close_output(self) -> None:
        if self._output >= 0 and self._process.stdout:
            asyncio.get_running_loop().remove_reader(self._output)
            self._process.stdout.close()
            self._output = -1


def start_child(  # noqa: PLR0913  # a process has this many sides, all named
    command: tuple[str, ...],
    *,
    environ: Mapping[str, str],
    folder: Path,
    mark: str,
    write: Callable[[bytes], None],
    given: bytes | None = None,
) -> Child:
    """Starts a command in a session of its own, killed when this process dies.

    Call from the event loop's thread, which must outlive the child: see `leash`.

    Args:
        command: Program and arguments.
        environ: Its whole environment, the mark aside.
        folder: Where it runs.
        mark: Tells its processes apart, also those that leave its tree.
        write: Takes its output.
        given: What it reads on its standard input, at most a pipe's 64 KiB.
    """
    process = subprocess.Popen(  # noqa: S603 - what the runner is for
        leashed(command, parent=os.getpid(), holding=True),
        env={**environ, MARK: mark},
        cwd=folder,
        stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    if given is not None and process.stdin:
        process.stdin.write(given)
        process.stdin.close()
    return Child(process, mark=mark, write=write)
