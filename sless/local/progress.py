"""What `sless up` says: a line per event, a spinner above a terminal's last line, one page."""

import shlex
import shutil
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.status import Status

from sless.local.addresses import Addresses
from sless.local.layout import Layout, default_data_folder
from sless.local.part import Event, PartEnded, PartReady, PartStopped

_FAILING = 3
"""Ends in a row from which on the last lines are shown: once, until it serves again."""


def _program() -> str:
    """What starts us in another terminal, which may lack what is on no PATH."""
    return "sless" if shutil.which("sless") else str(Path(sys.argv[0]).absolute())


class Progress:
    """Tells a person how the home does. On a pipe the same lines, without the spinner."""

    def __init__(self, parts: Iterable[str]) -> None:
        self._console = Console(file=sys.stdout, highlight=False, markup=False, soft_wrap=True)
        self._waiting = list(parts)
        self._width = max(map(len, self._waiting), default=0)
        self._began = time.monotonic()
        self._status: Status | None = None

    def __enter__(self) -> Self:
        """Starts the spinner, on a terminal."""
        if self._console.is_terminal:
            self._status = self._console.status(self._waiting_for())
            self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Takes the spinner away."""
        self._end_status()

    def say(self, line: str = "") -> None:
        """A line; a terminal or pipe that is gone does not stop the home."""
        try:
            self._console.print(line)
        except OSError:
            return

    def report(self, event: Event) -> None:
        """Says what happened to a part."""
        match event:
            case PartReady(again=False):
                self._came_up(event)
            case PartReady():
                self.say(f"{event.name} serves again.")
            case PartEnded():
                self._ended(event)
            case PartStopped(killed=True):
                self.say(f"{event.name} did not end in time and was killed.")
            case PartStopped():
                pass

    def up(self, layout: Layout, addresses: Addresses, *, version: str) -> None:
        """The page of URLs."""
        self._end_status()
        seconds = time.monotonic() - self._began
        data = layout.root
        named = [] if data == default_data_folder() else ["--data", str(data)]
        self.say()
        self.say(f"sless {version} is up after {seconds:.1f} s.")
        self.say()
        self.say(f"  Functions    {addresses.gateway}/fn/<namespace>/<name>/")
        self.say(f"  API          {addresses.api}")
        self.say(f"  Temporal UI  {addresses.temporal_ui}")
        self.say(f"  Data         {data}")
        self.say(f"  Logs         {layout.logs}")
        self.say()
        next_ = shlex.join([_program(), *named, "deploy", "FOLDER"])
        self.say(f"Next, in another terminal:  {next_}")
        self.say("Ctrl-C stops the home; everything is kept.")

    def stopping(self) -> None:
        """Says that the stop has begun."""
        self._end_status()
        self.say("Stopping, once calls under way have ended; Ctrl-C again cuts them.")

    def _came_up(self, event: PartReady) -> None:
        self._waiting.remove(event.name)
        self.say(f"  {event.name.ljust(self._width)}  ready after {event.seconds:.1f} s")
        if self._status is not None:
            self._status.update(self._waiting_for())

    def _ended(self, event: PartEnded) -> None:
        row = f", {event.in_a_row} times in a row" if event.in_a_row > 1 else ""
        self.say(f"{event.name} {event.how}{row}; it starts again in {event.delay:g} s.")
        if event.in_a_row == _FAILING:
            self.say("Its last lines:")
            for line in event.last_lines:
                self.say(f"  {line}")

    def _waiting_for(self) -> str:
        return f"Waiting for {', '.join(self._waiting)}"

    def _end_status(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None
