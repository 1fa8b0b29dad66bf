"""Progress on a terminal: one live line below the log."""

import sys
import time
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from sless.cli.texts import duration, printable, size


class TerminalReporter:
    """A spinner with the phase and its time; finished phases and the log scroll away above it."""

    def __init__(self, *, colour: bool) -> None:
        self._console = Console(file=sys.stderr, no_color=not colour, highlight=False)
        self._progress = Progress(
            SpinnerColumn(spinner_name="dots" if self._unicode else "line"),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._colour = colour
        self._since = time.monotonic()
        self._name = ""
        self._task: TaskID | None = None

    @property
    def _unicode(self) -> bool:
        return (self._console.encoding or "").lower().startswith("utf")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._finish(well=False)
        self._progress.stop()

    def note(self, text: str) -> None:
        """Something worth a line."""
        self._print(Text(printable(text)))

    def upload(self, sent: int, total: int) -> None:
        """A bar."""
        if self._task is None:
            self._begin("Uploading")
        name = f"Uploading {size(sent)} of {size(total)}"
        if self._task is not None:
            self._progress.update(self._task, description=name, completed=sent, total=total)
        if sent >= total:
            self._name = f"Uploaded {size(total)}"
            self._finish()

    def phase(self, name: str) -> None:
        """The next phase begins."""
        self._finish()
        self._begin(name)

    def log(self, line: str) -> None:
        """A line of the build's log, dim."""
        self._print(Text.from_ansi(f"  {printable(line, colour=self._colour)}", style="dim"))

    def end(self, *, well: bool) -> None:
        """The last phase is over."""
        self._finish(well=well)

    def _begin(self, name: str) -> None:
        self._name, self._since = name, time.monotonic()
        self._task = self._progress.add_task(name, total=None)

    def _finish(self, *, well: bool = True) -> None:
        if self._task is None:
            return
        self._progress.remove_task(self._task)
        self._task = None
        mark = self._mark(well=well)
        line = Text(f"{mark} {self._name} ")
        line.append(duration(time.monotonic() - self._since), style="dim")
        self._print(line)

    def _mark(self, *, well: bool) -> str:
        if self._unicode:
            return "\N{CHECK MARK}" if well else "\N{BALLOT X}"
        return "-" if well else "!"

    def _print(self, text: Text) -> None:
        self._progress.print(text, soft_wrap=True)
