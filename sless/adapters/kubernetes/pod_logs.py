"""Reads a container's log by byte offsets, of which the API server knows nothing; mostly pure.

It takes a time instead, by the second. So every line is asked for with its timestamp, and a mark
remembers where in the log some late line begins: the next reading starts at that line's second and
skips what was read. Without a mark, as after a restart of ours, it starts at the beginning.
"""

import re
from dataclasses import dataclass

LINE_OVERHEAD = 40
"""The most by which timestamps stretch a log, where every line is empty: 36 bytes for one."""

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_STAMP = re.compile(
    rb"(?P<second>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(?P<zone>Z|[-+]\d\d:\d\d)"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """The line that begins at `offset` was written at `time`, and is the first of its second."""

    offset: int = 0
    time: bytes = b""
    """RFC 3339 in the node's zone, as it came; empty at the beginning."""
    end: int = 0
    """Offset up to which the log was read when the mark was made."""
    last: bytes = b""
    """The time of the last line before `end`."""

    def query(self, *, start: int, limit: int) -> dict[str, str]:
        """What to ask the API server for, to get `limit` bytes from `start` on."""
        wanted = (start - self.offset + limit) * LINE_OVERHEAD
        asked = {"timestamps": "true", "limitBytes": str(wanted)}
        return asked | ({"sinceTime": _second(self.time)} if self.time else {})


@dataclass(frozen=True, slots=True)
class Reading:
    """What a log had from an offset on."""

    data: bytes
    mark: Mark
    """From where to read on."""


def read_from(answer: bytes, mark: Mark, *, start: int, limit: int) -> Reading:
    """The bytes from `start` on, at most `limit`, out of the answer to `mark.query`."""
    lines = _parse(answer)
    base = mark.offset
    if mark.time and lines and lines[0].time != mark.time:
        # The log was rotated: what the mark stood for is gone, and with it how far we had come.
        lines, base = [line for line in lines if line.time > mark.last], max(mark.end, start)
    content = b"".join(line.content for line in lines)
    data = content[max(0, start - base) :][:limit]
    return Reading(data, _next_mark(lines, mark, base=base, end=start + len(data)))


@dataclass(frozen=True, slots=True)
class _Line:
    time: bytes
    content: bytes


def _parse(answer: bytes) -> list[_Line]:
    lines: list[_Line] = []
    for text in _LINE.findall(answer):
        time, space, content = text.partition(b" ")
        if space and _STAMP.fullmatch(time):
            lines.append(_Line(time, content))
        # Else it is a timestamp that the limit cut off, or, at the front, the end of a line so long
        # that the node keeps it in pieces, of which the first was before the mark: read already.
    return lines


def _next_mark(lines: list[_Line], mark: Mark, *, base: int, end: int) -> Mark:
    """The first line of the latest second of which something was read."""
    offset, best, last = base, mark, mark.last
    for line in lines:
        if offset >= end:
            break
        if _second(line.time) != _second(best.time):
            best = Mark(offset, line.time)
        last = line.time
        offset += len(line.content)
    return Mark(best.offset, best.time, end=end, last=last)


def _second(time: bytes) -> str:
    """As the API server takes a time; the zone stays, since it is the node's."""
    found = _STAMP.fullmatch(time)
    return f"{found['second'].decode()}{found['zone'].decode()}" if found else ""
