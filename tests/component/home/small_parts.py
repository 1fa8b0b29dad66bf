"""Small scripts that play the parts of a home, and a home made of them."""

import json
import queue
import signal
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SERVE = """
import os, pathlib, signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
pathlib.Path(os.environ["READY"]).touch()
while True: signal.pause()
"""
"""A part that is ready at once and ends when told."""

STUBBORN = SERVE.replace("lambda *_: sys.exit(0)", "signal.SIG_IGN")
"""Likewise, but deaf to SIGTERM."""

SLOW = SERVE.replace("import os", "import time; time.sleep(0.3)\nimport os")
"""Likewise, but slow to be ready."""

BROKEN = "import sys; print('the disk is on fire'); sys.exit(7)"
"""A part that never comes up, and says why."""

MUTE = "import signal; signal.pause()"
"""A part that never is ready."""


def small(source: str, **fields: object) -> dict[str, object]:
    """A part of a small home."""
    return {"source": source, **fields}


@dataclass
class SmallHome:
    """One run of a small home."""

    process: subprocess.Popen[str]
    folder: Path
    events: list[dict[str, Any]] = field(default_factory=list)
    _lines: "queue.Queue[str]" = field(default_factory=queue.Queue)

    def __post_init__(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def expect(self, what: str, *, within: float = 10, **fields: object) -> dict[str, Any]:
        """The next event of that kind and with those fields."""
        while True:
            event: dict[str, Any] = json.loads(self._lines.get(timeout=within))
            self.events.append(event)
            if event["what"] == what and fields.items() <= event.items():
                return event

    def drain(self) -> list[dict[str, Any]]:
        """Everything it said, once it has ended."""
        while not self._lines.empty():
            self.events.append(json.loads(self._lines.get()))
        return self.events

    def stop(self, *, within: float = 10) -> int:
        """Stops it as Ctrl-C would; its exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=within)


SmallUp = Callable[[dict[str, dict[str, object]]], SmallHome]
