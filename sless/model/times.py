"""Times as people and other programs read them."""

from datetime import UTC, datetime


def rfc3339(when: datetime) -> str:
    """RFC 3339 in UTC, whole seconds, of a time that knows its zone."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def rfc3339_millis(when: datetime) -> str:
    """RFC 3339 to the millisecond, of a time in UTC."""
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
