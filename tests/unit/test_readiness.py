"""The file by which a process tells that it is ready, as its life begins."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
from sless.roots.process import run_role

async def look(settings):
    print("told" if settings.ready_file.exists() else "silent")

run_role(look, part="test")
"""


def test_what_a_killed_process_told_is_taken_back_at_the_start(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    ready.touch()
    environ = {**os.environ, "SLESS_READY_FILE": str(ready)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout == "silent\n"
