"""Text for people: ages, durations, sizes, and what a terminal can be trusted with."""

import re
import shlex
from datetime import UTC, datetime

from sless.model.function import FunctionRef

_MINUTE = 60
_HOUR = 3600
_DAY = 86400

_COLOUR = r"\x1b\[[0-9;]*m"
_SEQUENCE = re.compile(
    rf"(?P<colour>{_COLOUR})"
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # moves the cursor, clears the screen
    r"|\x1b[\]P^_X].*?(?:\x1b\\|\x07|$)"  # sets the title, the clipboard
    r"|\x1b."
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)


def printable(text: str, *, colour: bool = False) -> str:
    """The text without control sequences, which could rewrite what the terminal shows.

    Tabs and line ends stay, and colours if they are wanted.
    """
    return _SEQUENCE.sub(lambda found: (found["colour"] or "") if colour else "", text)


def sentence(text: str) -> str:
    """The text on one line."""
    return " ".join(printable(text).split())


def command(*parts: str) -> str:
    """A command line to copy, quoted for a shell."""
    return f"`{shlex.join(('sless', *parts))}`"


def words(ref: FunctionRef) -> tuple[str, ...]:
    """What names a function in a command line."""
    return (ref.name,) if ref.namespace == "default" else (ref.name, "-n", ref.namespace)


def parse_time(text: str) -> datetime | None:
    """An RFC 3339 time, or none where the text is no time."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def age(since: str, *, now: datetime | None = None) -> str:
    """How long ago an RFC 3339 time is, in its largest unit: `12s`, `5m`, `3h`, `9d`, or `-`."""
    time = parse_time(since)
    if time is None:
        return "-"
    seconds = max(0, int(((now or datetime.now(UTC)) - time).total_seconds()))
    for unit, size in (("d", _DAY), ("h", _HOUR), ("m", _MINUTE)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def duration(seconds: float) -> str:
    """Seconds as `0.3s`, `12.0s`, `3m05s` or `2h07m`."""
    if seconds < _MINUTE:
        return f"{seconds:.1f}s"
    whole = int(seconds)
    if whole < _HOUR:
        return f"{whole // _MINUTE}m{whole % _MINUTE:02}s"
    return f"{whole // _HOUR}h{whole % _HOUR // _MINUTE:02}m"


def took(started: str, ended: str) -> str:
    """The duration between two RFC 3339 times, or `-` while one is missing."""
    start, end = parse_time(started), parse_time(ended)
    return "-" if start is None or end is None else duration((end - start).total_seconds())


def size(count: int) -> str:
    """Bytes as `512 B`, `1.4 kB`, `23.0 MB`."""
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:  # noqa: PLR2004 - decimal units
            return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
