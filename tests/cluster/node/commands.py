"""Other programs, run to their end or started in the background."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sless.local.pidfile import find_pid_file, signal_group, write_pid_file
from tests.cluster.node.place import Place

POLL_SECONDS = 0.1
LAST_LINES = 15


_children: "dict[str, subprocess.Popen[bytes]]" = {}
"""What this process started itself: it must also wait for its end."""


class Unready(Exception):
    """The cluster cannot be had; one sentence or more for whoever started it."""


def run(command: Sequence[str], *, cwd: Path | None = None, given: str | None = None) -> str:
    """What it wrote to its standard output; raises `Unready` with its last words."""
    done = subprocess.run(
        command, cwd=cwd, input=given, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-LAST_LINES:]
        raise Unready("\n".join([f"`{' '.join(command[:4])} …` failed:", *said]))
    return done.stdout


def start(
    place: Place, name: str, command: Sequence[str], *, env: Mapping[str, str] | None = None
) -> None:
    """Starts it in the background, unless it runs; its log is `logs/<name>.log`."""
    mark = find_pid_file(_pid_file(place, name))
    if mark is not None and mark.alive:
        return
    path = os.pathsep.join([str(place.programs), os.environ["PATH"]])
    with _log(place, name).open("ab") as log:
        process = subprocess.Popen(
            command,
            cwd=place.folder,
            env={**os.environ, "PATH": path, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    _children[name] = process
    write_pid_file(_pid_file(place, name), process.pid)


def stop(place: Place, name: str, *, seconds: float = 2.0) -> None:
    """Ends it: an API server with open watches takes a minute to drain, so not for long."""
    mark = find_pid_file(_pid_file(place, name))
    if mark is not None and mark.alive:
        signal_group(mark.pid, signal.SIGTERM)
        deadline = time.monotonic() + seconds
        while mark.alive and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        if mark.alive:
            signal_group(mark.pid, signal.SIGKILL)
    if child := _children.pop(name, None):
        child.wait()
    _pid_file(place, name).unlink(missing_ok=True)


def wait(place: Place, name: str, ready: Callable[[], bool], *, seconds: float = 90.0) -> None:
    """Until it is ready; raises `Unready` with the end of its log when it ends or takes longer."""
    deadline = time.monotonic() + seconds
    while not ready():
        mark = find_pid_file(_pid_file(place, name))
        if mark is None or not mark.alive or time.monotonic() > deadline:
            log = _log(place, name)
            last = log.read_text(errors="replace").splitlines()[-LAST_LINES:]
            raise Unready("\n".join([f"{name} does not become ready; the end of {log}:", *last]))
        time.sleep(POLL_SECONDS)


def _pid_file(place: Place, name: str) -> Path:
    return place.run / f"{name}.json"


def _log(place: Place, name: str) -> Path:
    return place.folder / "logs" / f"{name}.log"
