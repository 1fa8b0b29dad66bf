"""A part's log: bounded on disk, its last lines at hand."""

from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

_TAIL_BYTES = 8192
"""Kept in memory: some forty lines, enough to say why a part ended."""


class RotatingLog:
    """Appends to a file; a full one becomes `<name>.1`, replacing the one before."""

    def __init__(self, path: Path, *, limit: int) -> None:
        self._path = path
        self._limit = limit
        self._file = self._open()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0

    def begin(self) -> None:
        """A run of the part begins: what an earlier one said is not its last lines."""
        self._tail.clear()
        self._tail_bytes = 0

    def write(self, data: bytes) -> None:
        """Appends; on a full disk the line is lost, since a part must not stop for its log."""
        self._remember(data)
        try:
            self._file.write(data)
            if self._file.tell() > self._limit:
                self._rotate()
        except OSError:
            return

    def last_lines(self, count: int) -> list[str]:
        """The newest non-empty lines of the present run, oldest first."""
        text = b"".join(self._tail).decode(errors="replace")
        return [line.rstrip() for line in text.splitlines() if line.strip()][-count:]

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _open(self) -> BinaryIO:
        return self._path.open("ab", buffering=0)

    def _rotate(self) -> None:
        with suppress(FileNotFoundError):  # moved by an earlier try, which then could not open
            self._path.replace(self._path.with_name(f"{self._path.name}.1"))
        full, self._file = self._file, self._open()
        full.close()

    def _remember(self, data: bytes) -> None:
        self._tail.append(data[-_TAIL_BYTES:])
        self._tail_bytes += len(self._tail[-1])
        while self._tail_bytes - len(self._tail[0]) >= _TAIL_BYTES:
            self._tail_bytes -= len(self._tail.popleft())
