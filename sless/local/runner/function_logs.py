"""What functions print: one bounded file per function, shared by its processes."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from sless.local.rotation import RotatingLog
from sless.model.function import FunctionRef


class FunctionLogs:
    """Every function's log, open while one of its processes runs."""

    def __init__(self, folder: Path, *, limit: int) -> None:
        self._folder = folder
        self._limit = limit
        self._open: dict[FunctionRef, tuple[RotatingLog, int]] = {}

    @contextlib.contextmanager
    def opened(self, function: FunctionRef) -> Iterator[RotatingLog]:
        """The function's log, which its other processes may have open, too."""
        log, users = self._open.get(function) or (self._make(function), 0)
        self._open[function] = log, users + 1
        try:
            yield log
        finally:
            self._close(function)

    def _make(self, function: FunctionRef) -> RotatingLog:
        path = self._folder / function.namespace / f"{function.name}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        return RotatingLog(path, limit=self._limit)

    def _close(self, function: FunctionRef) -> None:
        log, users = self._open.pop(function)
        if users > 1:
            self._open[function] = log, users - 1
        else:
            log.close()
