"""The logs of a build job: one file per container, line by line, bounded, without secrets."""

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from sless.adapters.bundles.environment import mask

TAIL_BYTES = 64 * 1024
"""What is kept of the end to read an error from: a compiler's whole outburst."""
_LINE_MAX = 16 * 1024
"""Bytes after which a line without end is written all the same."""
_CUT = b"\n[The log is cut here: it has reached its limit.]\n"


class JobLog:
    """One container's log; each whole line is on disk when `write` returns."""

    def __init__(self, path: Path, *, limit: int, secrets: Mapping[str, str]) -> None:
        self._file = path.open("ab", buffering=0)
        self._room = limit
        self._cut = False
        self._secrets = secrets
        self._pending = b""
        self._tail = b""

    @property
    def tail(self) -> str:
        """The end of what was written since `forget_tail`."""
        return (self._tail + self._pending).decode(errors="replace")

    def forget_tail(self) -> None:
        """Starts the tail anew."""
        self._tail = b""

    def say(self, line: str) -> None:
        """Writes a line of our own."""
        self.write(f"{line}\n".encode())

    def write(self, data: bytes) -> None:
        """Takes output as it comes."""
        whole, end, rest = (self._pending + data).rpartition(b"\n")
        if len(rest) > _LINE_MAX:
            whole, end, rest = whole + end + rest, b"\n", b""
        self._pending = rest
        if end:
            self._emit(whole + end)

    def close(self) -> None:
        """Writes what has no end of line yet."""
        if self._pending:
            self.write(b"\n")
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _emit(self, data: bytes) -> None:
        if self._secrets:
            data = mask(data.decode(errors="surrogateescape"), self._secrets).encode(
                errors="surrogateescape"
            )
        self._tail = (self._tail + data)[-TAIL_BYTES:]
        self._file.write(self._bounded(data))

    def _bounded(self, data: bytes) -> bytes:
        if self._cut:
            return b""
        kept = data[: self._room]
        self._room -= len(kept)
        self._cut = len(kept) < len(data)
        return kept + _CUT if self._cut else kept
