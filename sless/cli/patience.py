"""Waiting for a server that went away in the middle, for a bounded time."""

import time
from collections.abc import Callable

from sless.cli.exits import Exit, Stop
from sless.cli.texts import duration

WAIT_SECONDS = 60.0
"""A home's restart takes about ten; a rolling update of an API server less than a minute."""
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 2.0


class Patience:
    """Counts how long a server has been away, and says so once."""

    def __init__(self, tell: Callable[[str], None], *, limit: float = WAIT_SECONDS) -> None:
        self._tell = tell
        self._limit = limit
        self._since: float | None = None
        self._pause = _FIRST_PAUSE

    def endure(self, stop: Stop) -> None:
        """Pauses before another try; raises `stop` if waiting cannot help or has been enough."""
        if stop.code is not Exit.UNREACHABLE:
            raise stop
        if self._since is None:
            self._since = time.monotonic()
            self._tell(f"The server went away; waiting up to {duration(self._limit)} for it.")
        if time.monotonic() - self._since + self._pause > self._limit:
            raise stop
        time.sleep(self._pause)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    def answered(self) -> None:
        """It is there; the next time it goes away is counted anew."""
        if self._since is not None:
            self._tell("The server is back.")
        self._since = None
        self._pause = _FIRST_PAUSE
