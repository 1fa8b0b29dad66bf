"""Processes of this machine (Linux): who descends from whom, and ending all of them.

A process that double-forks leaves its parent's tree. Two things still find it: it is inherited by
the nearest subreaper, and it keeps the mark that we put in its parent's environment.
"""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

MARK = "SLESS_MARK"
"""Variable that tells the processes of one job or instance apart."""
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PAUSE = 0.01
"""Seconds between two looks while processes are ending."""
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """What /proc tells of a process."""

    pid: int
    parent: int
    state: str
    """One letter; `Z` has ended and waits for its parent."""
    resident: int
    """Bytes in memory, shared ones included."""


def list_processes() -> dict[int, ProcessStat]:
    """Every process by pid."""
    found = (_stat(int(entry.name)) for entry in _PROC.iterdir() if entry.name.isdigit())
    return {stat.pid: stat for stat in found if stat}


def _stat(pid: int) -> ProcessStat | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The name, in brackets, may hold anything.
    fields = text[text.rindex(")") + 2 :].split()
    return ProcessStat(pid, int(fields[1]), fields[0], int(fields[21]) * _PAGE)


def find_descendants(root: int) -> list[ProcessStat]:
    """Every process below `root`, itself not among them, zombies included."""
    processes = list_processes()
    below = {root}
    grown = True
    while grown:
        more = {stat.pid for stat in processes.values() if stat.parent in below} - below
        below |= more
        grown = bool(more)
    return [processes[pid] for pid in below - {root}]


def find_marked(prefix: str) -> Iterator[int]:
    """Every living process whose mark starts so, ourselves not among them."""
    wanted = f"{MARK}={prefix}".encode()
    for pid in list_processes():
        if pid != os.getpid() and any(word.startswith(wanted) for word in _environment(pid)):
            yield pid


def _environment(pid: int) -> list[bytes]:
    try:
        return (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []  # it has ended, or is another user's


def end_all(find: Callable[[], list[int]], *, reaping: bool = True, seconds: float = 10.0) -> bool:
    """Kills what `find` finds until it finds nothing; False when that takes too long.

    `reaping` takes note of every child that ended: only where nobody else waits for children.
    """
    deadline = time.monotonic() + seconds
    while pids := find():
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if reaping:
            _reap()
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE)
    return True


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def become_subreaper() -> None:
    """Makes this process the parent of every descendant that loses its own."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: int) -> Callable[[], None]:
    """To run in a child between fork and exec: the signal it gets when its parent ends.

    The kernel means the parent's *thread*: start such children from one that stays.
    """
    parent = os.getpid()

    def apply() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
        if os.getppid() != parent:  # it ended in between
            os._exit(1)

    return apply


def end_with_parent(number: int, *, parent: int) -> None:
    """Has this process get a signal when its parent ends; at once if that was before."""
    _prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def _prctl(option: int, argument: int) -> None:
    if _LIBC.prctl(option, argument, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) failed")
