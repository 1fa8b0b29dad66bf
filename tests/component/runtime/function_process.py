"""Starts the real launch.py as a function's process, and talks HTTP to it."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import httpx

DEADLINE = 20.0
"""Seconds until a condition must hold; generous, since the machine may be shared."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that is over."""

    code: int
    stdout: str
    stderr: str
    reason: str = ""
    message: str = ""


@dataclass(slots=True)
class FunctionProcess:
    """One function; a context manager that ends it."""

    folder: Path
    """For the code and the logs of this process alone."""
    program: tuple[str, ...]
    """The interpreter and what it starts."""
    runtime_site: Path
    code: Path
    site: Path | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    port: int = 0
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return self._running().pid

    def __enter__(self) -> Self:
        self.start()
        self.wait_until_ready()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def start(self) -> None:
        self.port = free_port()
        with self._log("stdout").open("wb") as out, self._log("stderr").open("wb") as err:
            self._process = subprocess.Popen(
                self.program,
                cwd=self.code,
                env=self._environ(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )

    def wait_until_ready(self) -> None:
        def answers() -> bool:
            if self._running().poll() is not None:
                raise AssertionError(f"The function ended: {self.log('stderr')}")
            try:
                # A program that is no handler answers `/_/ready` as it likes.
                return httpx.get(f"{self.url}/_/ready", timeout=DEADLINE).status_code < 500
            except httpx.TransportError:
                return False

        wait_until(answers)

    def terminate(self) -> None:
        self._running().send_signal(signal.SIGTERM)

    def wait(self) -> Ended:
        """How the process ended by itself, or after `terminate`."""
        code = self._running().wait(DEADLINE)
        told = self.folder / "termination"
        why = json.loads(told.read_text()) if told.exists() else {}
        return Ended(code, self.log("stdout"), self.log("stderr"), **why)

    def log(self, name: str) -> str:
        return self._log(name).read_text()

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None
        return self._process

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _environ(self) -> dict[str, str]:
        site = {} if self.site is None else {"SLESS_SITE": str(self.site)}
        return {
            "PATH": os.environ["PATH"],
            "PORT": str(self.port),
            "SLESS_HOST": "127.0.0.1",
            "SLESS_CODE": str(self.code),
            "SLESS_RUNTIME_SITE": str(self.runtime_site),
            "SLESS_TERMINATION_LOG": str(self.folder / "termination"),
            **site,
            **self.environ,
        }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < deadline, "The condition did not come to hold."
        time.sleep(0.01)


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def receive_all(connection: socket.socket) -> bytes:
    """What arrives until the other side closes."""
    return b"".join(iter(lambda: connection.recv(4096), b""))
