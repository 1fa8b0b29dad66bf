"""Pid files that tell a reused pid apart, and the end of what an unclean stop left behind."""

import json
import os
import signal
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from sless.files import write_atomically

_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class ProcessMark:
    """A process, unmistakably: pids are reused, the pair of pid and start is not."""

    pid: int
    started: int
    """Clock ticks between boot and its start, from /proc."""
    boot: str
    """The kernel's id of this boot."""

    @property
    def alive(self) -> bool:
        """Whether this very process runs; a zombie does not."""
        return find_mark(self.pid) == self


def find_mark(pid: int) -> ProcessMark | None:
    """The mark of a running process, or none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    # The command's name stands in parentheses and may hold anything: count from the last one.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else ProcessMark(pid, int(fields[19]), boot)


def write_pid_file(path: Path, pid: int) -> None:
    """Notes that process; one that is gone already leaves no file."""
    mark = find_mark(pid)
    if mark is not None:
        write_atomically(path, json.dumps(asdict(mark)).encode(), durable=False)


def find_pid_file(path: Path) -> ProcessMark | None:
    """The mark in a pid file, or none where it is absent or unreadable."""
    try:
        return ProcessMark(**json.loads(path.read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def end_leftovers(folder: Path, *, seconds: float) -> list[str]:
    """Ends, group and all, what the pid files in the folder name; the names of those that ran.

    Each has that long after SIGTERM before it is killed.
    """
    left = [
        (path, mark)
        for path in sorted(folder.glob("*.json"))
        if (mark := find_pid_file(path)) is not None and mark.alive
    ]
    for _, mark in left:
        signal_group(mark.pid, signal.SIGTERM)
    deadline = time.monotonic() + seconds
    for _, mark in left:
        while mark.alive and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        signal_group(mark.pid, signal.SIGKILL)
    for path in folder.glob("*.json"):
        path.unlink(missing_ok=True)
    return [path.stem for path, _ in left]


def signal_group(pid: int, number: signal.Signals) -> None:
    """Signals the process group of that leader; one that is gone is no error."""
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        return
