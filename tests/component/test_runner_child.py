"""A child process of the runner: its output and its end."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from sless.local.runner.child import Child, start_child
from tests.component.runner_home import eventually

pytestmark = pytest.mark.real

SECONDS = 30.0
FLOOD = "for n in 1 2 3 4 5 6 7 8; do yes & done; sleep 0.3; exit 3"


class Output:
    """Takes what a child says, as slowly as a disk."""

    def __init__(self) -> None:
        self.data = b""
        self.late = 0
        """How often it was given something after the child had ended."""
        self.child: Child | None = None

    def write(self, data: bytes) -> None:
        """Takes some."""
        time.sleep(0.005)
        self.data = (self.data + data)[-1000:]
        self.late += self.child is not None and _has_ended(self.child.pid)


def _has_ended(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def start(script: str, *, folder: Path, output: Output) -> Child:
    """Starts a shell script."""
    output.child = start_child(
        ("/bin/sh", "-c", script),
        environ={"PATH": os.environ["PATH"]},
        folder=folder,
        mark=f"{folder};child;",
        write=output.write,
    )
    return output.child


async def test_its_last_words_and_code(tmp_path: Path) -> None:
    output = Output()
    child = start("echo first; echo last; exit 3", folder=tmp_path, output=output)
    async with asyncio.timeout(SECONDS):
        assert await child.wait() == 3
    assert output.data == b"first\nlast\n"


async def test_the_flood_of_those_left_behind_holds_nothing_up(tmp_path: Path) -> None:
    output = Output()
    child = start(FLOOD, folder=tmp_path, output=output)
    async with asyncio.timeout(SECONDS):
        assert await child.wait() == 3
    assert output.late < 25, "it is read until it ends by itself"


async def test_a_daemon_without_our_environment_ends_with_it(tmp_path: Path) -> None:
    told = tmp_path / "daemon"
    daemon = f"/bin/echo $$ > {told}; exec /bin/sleep 1000"
    script = f"(setsid env -i /bin/sh -c '{daemon}' &); exec sleep 1000"
    child = start(script, folder=tmp_path, output=Output())
    await eventually(lambda: told.exists() and bool(told.read_text().strip()))
    pid = int(told.read_text())
    assert Path(f"/proc/{pid}").exists()
    await child.end()
    await eventually(lambda: not Path(f"/proc/{pid}").exists())
