import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.component.cli.scripted_api import TOKEN, RunningServer, ScriptedApi

SLESS = Path(sys.executable).parent / "sless"


@dataclass(frozen=True, slots=True)
class Result:
    """How a command ended."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()


@dataclass(slots=True)
class Cli:
    """Runs the installed `sless` as a person's shell does."""

    env: dict[str, str]
    cwd: Path
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __call__(self, *words: str, stdin: bytes = b"", **env: str) -> Result:
        done = subprocess.run(
            [SLESS, *words],
            input=stdin,
            env=self.env | env,
            cwd=self.cwd,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr.decode())

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [SLESS, *words],
            env=self.env,
            cwd=self.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.started.append(process)
        return process


@pytest.fixture
def api() -> ScriptedApi:
    return ScriptedApi()


@pytest.fixture
def server(api: ScriptedApi) -> Iterator[RunningServer]:
    running = RunningServer(api.app())
    api.url = running.url
    yield running
    running.stop()


@pytest.fixture
def offline(tmp_path: Path) -> Iterator[Cli]:
    """A `sless` of a user without a home."""
    kept = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
    cli = Cli(kept | {"HOME": str(tmp_path), "PYTHONWARNINGS": "error"}, tmp_path)
    yield cli
    for process in cli.started:
        process.kill()
        process.communicate()


@pytest.fixture
def sless(offline: Cli, server: RunningServer) -> Cli:
    """A `sless` that knows the scripted server."""
    offline.env |= {"SLESS_SERVER": server.url, "SLESS_TOKEN": TOKEN}
    return offline


@pytest.fixture
def hello(tmp_path: Path) -> Path:
    """A folder with a handler."""
    folder = tmp_path / "Hello World"
    folder.mkdir()
    (folder / "handler.py").write_text("def handler(request):\n    return 'hi'\n")
    return folder
