"""Which events warn of a function, and how often: pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sless.adapters.kubernetes.event_names import is_of_build, is_of_function
from sless.adapters.kubernetes.event_words import find_words
from sless.adapters.kubernetes.events import last_seen
from sless.adapters.kubernetes.pod_reading import parse_time
from sless.model.function import FunctionRef
from sless.model.times import rfc3339
from sless.model.warning import HomeWarning, newest

Object = Mapping[str, Any]

_KEPT = timedelta(hours=1)
"""As long as an API server keeps events, unless it is told otherwise."""
_START = timedelta(seconds=10)
"""A pod is probed each second as soon as it runs, so that any start is refused some times."""


@dataclass(frozen=True, slots=True)
class Told:
    """What counts of a warning event."""

    kind: str
    """Of what it is about."""
    name: str
    """Likewise."""
    reason: str
    message: str
    """In plain words."""
    count: int
    seen: datetime
    """For the last time."""

    def is_of_function(self, name: str) -> bool:
        """Whether it is about what carries that function of its namespace."""
        return is_of_function(self.kind, self.name, name=name)

    def is_of_build(self, name: str, build: str) -> bool:
        """Whether it is about a Job of that build."""
        return is_of_build(self.kind, self.name, name=name, build=build)


def find_told(event: Object) -> Told | None:
    """What counts of an event; none if it is no warning, or says nothing of its own."""
    reason = str(event.get("reason") or "")
    words = find_words(reason, str(event.get("message") or ""))
    seen = parse_time(last_seen(event))
    if event.get("type") != "Warning" or not words or seen is None or _is_start(event, seen):
        return None
    about = event.get("involvedObject") or {}
    series = event.get("series") or {}
    return Told(
        kind=str(about.get("kind") or ""),
        name=str(about.get("name") or ""),
        reason=reason,
        message=words,
        count=int(series.get("count") or event.get("count") or 1),
        seen=seen,
    )


def _is_start(event: Object, seen: datetime) -> bool:
    """Whether nothing listens in the pod, but has had no time to."""
    first = parse_time(event.get("firstTimestamp"))
    refused = "connection refused" in str(event.get("message"))
    return (
        event.get("reason") == "Unhealthy"
        and refused
        and first is not None
        and seen - first < _START
    )


def find_warnings(
    function: FunctionRef,
    *,
    build: str,
    own: Iterable[Told],
    builds: Iterable[Told],
    now: datetime,
) -> tuple[HomeWarning, ...]:
    """The function's.

    Args:
        function: Whose.
        build: Its present one.
        own: What is told in the function's namespace.
        builds: What is told where Jobs run.
        now: Older than an hour before is old.
    """
    found = [each for each in own if each.is_of_function(function.name)]
    found += [each for each in builds if each.is_of_build(function.name, build)]
    return newest(
        _render(each) for each in _merged(each for each in found if now - each.seen <= _KEPT)
    )


def _merged(found: Iterable[Told]) -> Iterable[Told]:
    """What says the same of the same, as one."""
    merged: dict[tuple[str, ...], Told] = {}
    for each in found:
        key = (each.kind, each.name, each.reason, each.message)
        before = merged.get(key)
        merged[key] = each if before is None else _joined(before, each)
    return merged.values()


def _joined(one: Told, other: Told) -> Told:
    return replace(one, count=one.count + other.count, seen=max(one.seen, other.seen))


def _render(told: Told) -> HomeWarning:
    return HomeWarning(
        about=f"{told.kind.lower()} {told.name}",
        reason=told.reason,
        message=told.message,
        count=told.count,
        last_seen=rfc3339(told.seen),
    )
