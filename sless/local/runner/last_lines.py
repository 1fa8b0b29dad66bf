"""The last lines of what one process wrote."""

_KEPT_BYTES = 4096
"""More than is ever told."""
_LINES = 5
"""Told of a crash: a traceback's end fits."""


class LastLines:
    """Takes output as it comes, and keeps its end."""

    def __init__(self) -> None:
        self._tail = b""

    def write(self, data: bytes) -> None:
        """Takes more output."""
        self._tail = (self._tail + data)[-_KEPT_BYTES:]

    def get(self) -> list[str]:
        """The last lines that are not blank, oldest first."""
        text = self._tail.decode(errors="replace")
        return [line.rstrip() for line in text.splitlines() if line.strip()][-_LINES:]
