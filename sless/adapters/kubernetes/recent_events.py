"""Warning events of whole namespaces, each remembered for a moment."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.event_warnings import Told, find_told
from sless.adapters.kubernetes.resources import EVENTS

_PAGE = 500
"""Events in one answer; what does not count of them is thrown away before the next one."""


@dataclass(frozen=True, slots=True)
class _Heard:
    """What one look at a namespace found."""

    told: Sequence[Told]
    at: float
    """`time.monotonic()` before the look."""


class RecentEvents:
    """An API server finds events by reading all of a namespace, and `sless deploy` asks each 0.2 s.

    So whoever asks within `fresh_seconds` is told the same, and those who ask at once wait for one
    look.
    """

    def __init__(self, server: ApiServer, *, fresh_seconds: float) -> None:
        self._server = server
        self._fresh_seconds = fresh_seconds
        self._heard: dict[str, _Heard] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def of(self, namespace: str) -> Sequence[Told]:
        """A namespace's warnings; none of one that is not there."""
        lock = self._locks.setdefault(namespace, asyncio.Lock())
        async with lock:
            self._forget()
            if namespace not in self._heard:
                at = time.monotonic()
                self._heard[namespace] = _Heard(await self._look(namespace), at)
            return self._heard[namespace].told

    async def _look(self, namespace: str) -> Sequence[Told]:
        told: list[Told] = []
        async for page in self._server.pages(EVENTS, namespace, size=_PAGE, fields="type=Warning"):
            told += filter(None, map(find_told, page.items))
        return told

    def _forget(self) -> None:
        oldest = time.monotonic() - self._fresh_seconds
        self._heard = {name: heard for name, heard in self._heard.items() if heard.at > oldest}
