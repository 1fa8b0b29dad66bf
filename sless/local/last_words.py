"""What a part said last, for people: our own JSON lines become short again."""

import json

_LONGEST = 300
"""Characters of a line; what a program says last is what counts."""


def readable(line: str) -> str:
    """The line itself, or the event of a JSON line with why it happened."""
    try:
        fields = json.loads(line)
        event = fields["event"]
    except (ValueError, KeyError, TypeError):
        return _cut(line)
    trace = str(fields.get("exception", "")).strip().splitlines()
    why = trace[-1] if trace else fields.get("message", "")
    return _cut(f"{event}: {why}" if why else str(event))


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST else f"…{line[-_LONGEST:]}"
