"""A part of the home as data, and what the supervisor tells about parts."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One process that `sless up` keeps running."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str] = field(hash=False, repr=False)
    """The whole environment of the process, credentials among it."""
    folder: Path
    """Working directory."""
    ready: Callable[[], Awaitable[bool]] = field(hash=False)
    """Whether it serves; asked often while it starts, never raises."""
    needs: frozenset[str] = frozenset()
    """Parts that are ready before this one is started."""
    start_seconds: float
    """It is ready by then, or killed."""
    stop_seconds: float
    """It ends so soon after SIGTERM, or is killed."""
    may_be_killed: bool = False
    """Whether killing it is a way to stop it as good as any, of which nobody need be told."""
    stop_stage: int = 0
    """Parts of stage 0 are stopped first, those of the next once they have ended."""
    ready_file: Path | None = None
    """Removed before each start; the process writes it when it is ready."""


@dataclass(frozen=True, slots=True)
class PartReady:
    """A part serves."""

    name: str
    pid: int
    seconds: float
    """From its process' start."""
    again: bool
    """Whether it was ready before, and ended."""


@dataclass(frozen=True, slots=True)
class PartEnded:
    """A part ended by itself, or could not be started, and will be started again."""

    name: str
    how: str
    """Such as `was ended by SIGKILL` or `ended with exit code 1`."""
    delay: float
    """Seconds until its next start."""
    in_a_row: int
    """Ends without a while of service in between."""
    last_lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartStopped:
    """A part was stopped on purpose."""

    name: str
    killed: bool
    """Whether it had to be killed: it did not end in time."""


Event = PartReady | PartEnded | PartStopped
Report = Callable[[Event], None]
"""Takes what happened; never raises."""
