"""A small home as a subprocess."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.component.home.small_parts import SmallHome, SmallUp


@pytest.fixture
def small_up(tmp_path: Path) -> Iterator[SmallUp]:
    """Starts a small home on one folder; whatever still runs is killed at the end."""
    started: list[SmallHome] = []

    def start(parts: dict[str, dict[str, object]]) -> SmallHome:
        script = Path(__file__).with_name("small_home.py")
        folder = tmp_path / "home"
        process = subprocess.Popen(
            [sys.executable, str(script), str(folder), json.dumps(parts)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        )
        started.append(SmallHome(process, folder))
        return started[-1]

    yield start
    for home in started:
        home.process.kill()
        home.process.wait()
        assert home.process.stdout is not None
        assert home.process.stderr is not None
        home.process.stdout.close()
        home.process.stderr.close()
