"""What a home warns of about one function: its pods, Jobs or processes."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

WARNINGS_MAX = 10
"""The newest ones; what is older says the same of what is gone."""
MESSAGE_MAX = 500
"""Characters; an event may have 1024, most of them names."""
_BEGINNING = 150
_GAP = " … "


@dataclass(frozen=True, slots=True)
class HomeWarning:
    """Something that went wrong, once or several times alike."""

    about: str
    """Kind and name, such as `pod fn-hello-…`."""
    reason: str
    """The home's own word, or a leaf of the error tree."""
    message: str
    """A sentence for people."""
    count: int
    """How often it was seen."""
    last_seen: str
    """RFC 3339 in UTC, whole seconds."""


def newest(warnings: Iterable[HomeWarning]) -> tuple[HomeWarning, ...]:
    """The newest of them first, no more than are of use, their messages on one bounded line."""
    ordered = sorted(warnings, key=lambda warning: warning.last_seen, reverse=True)
    return tuple(
        replace(warning, message=_bounded(warning.message))
        for warning in islice(ordered, WARNINGS_MAX)
    )


def _bounded(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= MESSAGE_MAX:
        return line
    # What went wrong is said first, and why at the very end.
    rest = MESSAGE_MAX - _BEGINNING - len(_GAP)
    return f"{line[:_BEGINNING]}{_GAP}{line[-rest:]}"
