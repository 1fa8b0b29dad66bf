"""What a program of ours says when it ends: one JSON object, with a reason and a message. Pure."""

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LastWords:
    """Not checked: a function may write what it likes in their place."""

    reason: str
    message: str


def find_last_words(said: str | bytes) -> LastWords | None:
    """The words; none where something else stands there."""
    try:
        told = json.loads(said)
        return LastWords(_text(told["reason"]), _text(told["message"]))
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def _text(told: object) -> str:
    """What can be stored: half a character, which JSON can name alone, cannot."""
    return str(told).encode(errors="replace").decode()
