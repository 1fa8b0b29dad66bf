"""Warnings in memory: `Warnings` for tests of the API."""

import asyncio
from collections.abc import Sequence

from sless.errors import StoreUnavailable
from sless.model.function import FunctionRef
from sless.model.warning import HomeWarning, newest


class FakeWarnings:
    """What a test warned of.

    While `unavailable` is set every call fails, and while `silent` is set none comes back.
    """

    def __init__(self) -> None:
        self.unavailable = False
        self.silent = False
        self.asked: list[tuple[FunctionRef, str]] = []
        """Functions and builds."""
        self._known: list[tuple[FunctionRef, HomeWarning]] = []

    async def find(self, function: FunctionRef, *, build: str) -> Sequence[HomeWarning]:
        """See the port."""
        self.asked.append((function, build))
        if self.unavailable:
            raise StoreUnavailable("The API server refuses us a right.")
        if self.silent:
            await asyncio.Event().wait()
        return newest(warning for owner, warning in self._known if owner == function)

    def warn(self, function: FunctionRef, warning: HomeWarning) -> None:
        """Something went wrong."""
        self._known.append((function, warning))
