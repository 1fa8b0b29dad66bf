"""Why a function's process ended, in a reason and a sentence: pure but for one file."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sless.errors import FunctionCrashed
from sless.local.process import describe_end
from sless.model.last_words import find_last_words

MESSAGE_MAX = 1000
"""Characters."""


@dataclass(frozen=True, slots=True)
class Crash:
    """A leaf of the error tree, and what to tell."""

    reason: str
    message: str


def find_crash(log: Path, *, code: int, lines: Sequence[str]) -> Crash:
    """What the function itself says, or else its exit code and its last lines."""
    try:
        told = find_last_words(log.read_bytes())
    except OSError:
        told = None
    if told is None:
        return Crash(FunctionCrashed.reason, _describe(code, lines))
    return Crash(told.reason, told.message[:MESSAGE_MAX])


def _describe(code: int, lines: Sequence[str]) -> str:
    how = f"The function's process {describe_end(code)}"
    if code == -signal.SIGKILL:
        how += " (most often because memory ran out)"
    said = "\n".join(lines)[-MESSAGE_MAX + len(how) + 2 :]
    return f"{how}: {said}" if said else f"{how} and said nothing."
