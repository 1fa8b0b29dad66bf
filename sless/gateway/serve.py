"""Envoy as a process that drains: `python -m sless.gateway.serve FOLDER LEAVE DRAIN ENVOY…`.

By itself Envoy cuts every request at SIGTERM. Both times are in seconds.
"""

import asyncio
import contextlib
import ctypes
import re
import signal
import sys
from asyncio.subprocess import Process
from pathlib import Path

from sless.errors import GatewayUnavailable
from sless.gateway.admin import EnvoyAdmin
from sless.gateway.bootstrap import GatewayPaths

_PR_SET_PDEATHSIG = 1
_LAST_LINES = 5
_REFUSED = re.compile(r"error `(.*)` initializing config", re.DOTALL)


async def serve(folder: Path, *, leave: float, drain_timeout: float, command: list[str]) -> int:
    """Run Envoy until it ends or a signal comes; its exit code, 0 after a signal.

    After SIGTERM or SIGINT it is still open for `leave` seconds, since whoever sends it callers may
    not know yet; then requests under way may go on for `drain_timeout` seconds.
    """
    paths = GatewayPaths(folder)
    told = _told_to_stop()
    log_start = paths.log.stat().st_size if paths.log.exists() else 0
    # A group of its own: Ctrl-C in a terminal would reach, and end, Envoy before it has drained.
    envoy = await asyncio.create_subprocess_exec(
        *command, preexec_fn=_die_with_parent, process_group=0
    )
    ended = asyncio.create_task(envoy.wait())
    stop = asyncio.create_task(told.wait())
    await asyncio.wait((ended, stop), return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    if ended.done():
        sys.stderr.write(_why(paths.log, log_start))
        return ended.result() or 1
    await _drain(EnvoyAdmin(paths.admin), leave=leave, within=drain_timeout)
    _end(envoy)
    await ended
    # Envoy leaves its socket, which would break a copy of the folder.
    paths.admin.unlink(missing_ok=True)
    return 0


def _told_to_stop() -> asyncio.Event:
    told = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    return told


async def _drain(admin: EnvoyAdmin, *, leave: float, within: float) -> None:
    # What does not end in time, or cannot be asked, is cut.
    with contextlib.suppress(TimeoutError, GatewayUnavailable):
        await admin.leave()
        await asyncio.sleep(leave)
        async with asyncio.timeout(within):
            await admin.refuse()
            await admin.wait_idle()


def _end(envoy: Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        envoy.terminate()


def _die_with_parent() -> None:
    """In the child: a killed parent leaves no Envoy behind."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _why(log: Path, start: int) -> str:
    """What Envoy wrote since `start`: the one sentence when it could not start, else its end."""
    if not log.exists():
        return "The gateway ended before it wrote a log.\n"
    with log.open("rb") as file:
        file.seek(start)
        written = file.read().decode(errors="replace")
    if refused := _REFUSED.search(written):
        return f"The gateway could not start: {refused[1]}\n"
    return "".join(written.splitlines(keepends=True)[-_LAST_LINES:])


if __name__ == "__main__":
    _folder, _leave, _drain_timeout, *_command = sys.argv[1:]
    _serving = serve(
        Path(_folder),
        leave=float(_leave),
        drain_timeout=float(_drain_timeout),
        command=_command,
    )
    sys.exit(asyncio.run(_serving))
