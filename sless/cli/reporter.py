"""How work under way is shown on stderr: plain lines, or a live line on a terminal."""

import sys
import time
from typing import Protocol, Self

from sless.cli.output import coloured, tell
from sless.cli.texts import duration, printable, size


class Reporter(Protocol):
    """What is shown while an ask is under way; used as a context manager."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def note(self, text: str) -> None:
        """Something worth a line."""

    def upload(self, sent: int, total: int) -> None:
        """So many of so many bytes are sent."""

    def phase(self, name: str) -> None:
        """The ask is in that phase from now on."""

    def log(self, line: str) -> None:
        """A line of the build's log."""

    def end(self, *, well: bool) -> None:
        """The last phase is over."""


class PlainReporter:
    """Lines that read well in a file."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._since = self._start
        self._phase = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._finish_phase()

    def note(self, text: str) -> None:
        """Something worth a line."""
        tell(printable(text))

    def upload(self, sent: int, total: int) -> None:
        """Says when all is sent."""
        if sent >= total:
            tell(f"Uploaded {size(total)} in {duration(time.monotonic() - self._start)}")

    def phase(self, name: str) -> None:
        """Says how long the former phase took, and which begins."""
        self._finish_phase()
        self._phase, self._since = name, time.monotonic()
        tell(f"{name} ...")

    def log(self, line: str) -> None:
        """A line of the build's log, marked as such."""
        tell(f"| {printable(line)}")

    def end(self, *, well: bool) -> None:
        """Says how long the last phase took."""
        del well  # What comes next says so in words.
        self._finish_phase()

    def _finish_phase(self) -> None:
        if self._phase:
            tell(f"{self._phase} took {duration(time.monotonic() - self._since)}")
        self._phase = ""


def open_reporter() -> Reporter:
    """The one that suits stderr."""
    if not sys.stderr.isatty():
        return PlainReporter()
    from sless.cli.terminal import TerminalReporter

    return TerminalReporter(colour=coloured())
