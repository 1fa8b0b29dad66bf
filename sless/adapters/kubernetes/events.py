"""Warnings among Kubernetes' events, in plain words: pure."""

from collections.abc import Iterable, Mapping
from typing import Any

Object = Mapping[str, Any]

_PULLING = frozenset({"ErrImagePull", "ImagePullBackOff"})
EMPTY = ("Error: ErrImagePull", "Error: ImagePullBackOff")
"""Messages of events that only repeat a state."""


def newest_warning(events: Iterable[Object], *reasons: str) -> Object | None:
    """The last warning, of those reasons if any are named; one that says something if there is."""
    warnings = [
        event
        for event in events
        if event.get("type") == "Warning" and (not reasons or event.get("reason") in reasons)
    ]
    telling = [event for event in warnings if event.get("message") not in EMPTY]
    return max(telling or warnings, key=last_seen, default=None)


def why_waiting(reason: str, message: str, events: Iterable[Object]) -> str:
    """The most telling text there is for a container that waits for that reason."""
    event = newest_warning(events, "Failed") if reason in _PULLING else None
    return str(event.get("message") or message) if event else message


def last_seen(event: Object) -> str:
    """When it happened last, as a timestamp; empty where nothing tells."""
    # Timestamps of one form sort as text; what only has an eventTime is of the newer kind.
    return str(
        (event.get("series") or {}).get("lastObservedTime")
        or event.get("lastTimestamp")
        or event.get("eventTime")
        or event["metadata"].get("creationTimestamp")
        or ""
    )
