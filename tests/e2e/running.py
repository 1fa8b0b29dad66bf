"""A real `sless up` as a subprocess, and its command line."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sless.local.home import Home, find_home
from sless.local.layout import Layout
from sless.local.pidfile import ProcessMark, find_pid_file
from tests.e2e.any_home import AnyHome

SLESS = str(Path(sys.executable).with_name("sless"))
UP_SECONDS = 90.0
"""On two cores that other tests share; alone it takes some five."""
STOP_SECONDS = 40.0
COMMAND_SECONDS = 180.0
"""For one command of `sless`, a build included."""
_OWN = ("SLESS_", "AWS_", "TEMPORAL_")


def wait_until(
    condition: Callable[[], bool], *, within: float, what: str | Callable[[], str]
) -> None:
    """Returns once the condition holds; fails with `what` after so many seconds."""
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within:g} s: {what() if callable(what) else what}")
        time.sleep(0.05)


def plain_environ() -> dict[str, str]:
    """The environment without whatever would lead to another home or another cloud."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OWN)}


@dataclass
class RunningHome(AnyHome):
    """One home on one folder; it can be stopped, killed and started again."""

    folder: Path
    environ: Mapping[str, str] = field(default_factory=plain_environ)
    said: list[str] = field(default_factory=list)
    """What `sless up` has printed, over all its starts."""
    _process: "subprocess.Popen[str] | None" = None

    @property
    def layout(self) -> Layout:
        """Where its files are."""
        return Layout(self.folder)

    @property
    def facts(self) -> Home:
        """Its home.json; only while it is up."""
        home = find_home(self.layout.home)
        assert home is not None, f"no home is up: {self.tail()}"
        return home

    @property
    def gateway(self) -> str:
        """URL of its gateway."""
        return self.facts.gateway

    @property
    def namespace(self) -> str:
        """Where its commands are about."""
        return "default"

    @property
    def process(self) -> "subprocess.Popen[str]":
        """The supervisor."""
        assert self._process is not None, "never started"
        return self._process

    def start(self, *options: str) -> None:
        """Starts it on free ports without waiting."""
        ports = ("--port", "auto", "--gateway-port", "auto", "--ui-port", "auto")
        self._process = subprocess.Popen(
            [SLESS, "up", "--data", str(self.folder), *ports, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=dict(self.environ),
        )
        threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()

    def wait_up(self) -> None:
        """Returns when it is up."""
        pid = self.process.pid

        def up() -> bool:
            assert self.process.poll() is None, f"sless up ended: {self.tail()}"
            home = find_home(self.layout.home)
            return home is not None and home.pid == pid

        wait_until(up, within=UP_SECONDS, what=lambda: f"the home is up: {self.tail()}")

    def stop(self) -> int:
        """Stops it as Ctrl-C does; its exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=STOP_SECONDS)

    def kill(self) -> None:
        """Kills the supervisor, if it runs; the kernel ends its parts."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def kill_part(self, part: str) -> int:
        """Kills one part with SIGKILL, once it runs; the pid it had."""
        wait_until(
            lambda: self._find_part(part) is not None,
            within=UP_SECONDS,
            what=lambda: f"{part} runs: {self.tail()}",
        )
        mark = self._find_part(part)
        assert mark is not None, f"{part} ended by itself: {self.tail()}"
        os.kill(mark.pid, signal.SIGKILL)
        return mark.pid

    def sless(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Runs a command of `sless` against this home."""
        return subprocess.run(
            [SLESS, "--data", str(self.folder), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            env=dict(self.environ),
            check=False,
        )

    def has_said(self, line: str, *, since: int) -> bool:
        """Whether it printed that line after so many others."""
        return line in self.said[since:]

    def tail(self) -> str:
        """What it said last, for a failed assertion."""
        return "\n".join(self.said[-25:])

    def _find_part(self, part: str) -> ProcessMark | None:
        """None of one that was killed and not started again yet."""
        mark = find_pid_file(self.layout.pid_file(part))
        return mark if mark is not None and mark.alive else None

    def _listen(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                self.said.append(line.rstrip())
