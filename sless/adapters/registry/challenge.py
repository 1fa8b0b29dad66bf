"""How a registry asks who we are: the WWW-Authenticate header, and when to come back; pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_START = re.compile(r"(?:^|,)\s*(?P<scheme>Basic|Bearer)(?:\s+|,|$)", re.IGNORECASE)
_PARAMETER = re.compile(
    r'[\s,]*(?P<name>[\w-]+)\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^\s",]+))'
)


@dataclass(frozen=True, slots=True)
class Challenge:
    """One challenge; `scheme` in lower case."""

    scheme: str
    parameters: Mapping[str, str]


def parse_challenge(header: str) -> Challenge | None:
    """The first challenge that is basic or bearer: others may stand before it."""
    start = _START.search(header)
    if start is None:
        return None
    parameters: dict[str, str] = {}
    position = start.end()
    while found := _PARAMETER.match(header, position):
        quoted = found["quoted"]
        value = found["bare"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        parameters.setdefault(found["name"].lower(), value)
        position = found.end()
    return Challenge(start["scheme"].lower(), parameters)


def parse_retry_after(header: str, *, now: datetime) -> float | None:
    """Seconds from `now`; none where the header says nothing that could be understood."""
    text = header.strip()
    if text.isdecimal() and text.isascii():
        return float(text[:9])
    try:
        then = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - now).total_seconds())
