"""Folders of functions that are quick, long or impossible to build, or slow to start."""

import random
from pathlib import Path

ENDLESS = 900
"""Seconds that no test waits for."""


def quick(folder: Path, says: str) -> Path:
    """A function without dependencies that answers with `says`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "handler.py").write_text(f"def handler(request):\n    return {says!r}\n")
    return folder


def impossible(folder: Path) -> Path:
    """What it depends on is nowhere to be had."""
    quick(folder, "never")
    (folder / "requirements.txt").write_text("six>=99\n")
    return folder


def large(folder: Path, says: str) -> Path:
    """Its context takes a while to make."""
    quick(folder, says)
    (folder / "data.bin").write_bytes(random.Random(says).randbytes(64 << 20))  # noqa: S311  # data that does not compress
    return folder


def late(folder: Path, says: str, *, seconds: int = ENDLESS) -> Path:
    """It takes that long to become ready."""
    quick(folder, says)
    handler = folder / "handler.py"
    handler.write_text(f"import time\n\ntime.sleep({seconds})\n\n\n{handler.read_text()}")
    return folder
