"""Reads the logs of builds' pods, and asks for none that can have nothing new to say."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.pod_logs import Mark, read_from
from sless.adapters.kubernetes.pod_reading import has_ended, has_started, is_over
from sless.errors import InvalidSetting, StoreUnavailable
from sless.model.attempt import CONTAINERS, LogChunk

_REMEMBERED = 3000
"""Containers whose place in the log is known: a forgotten one is read from its start."""

Object = Mapping[str, Any]
K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class LoggedPod:
    """What reading a pod's logs takes of it, as somebody saw it."""

    namespace: str
    name: str
    uid: str
    started: tuple[str, ...]
    """Containers that have a log."""
    ended: frozenset[str]
    """Those whose log grows no more."""
    over: bool
    """Whether none of this changes any more."""


def logged_pod(pod: Object) -> LoggedPod:
    """Out of the API server's object."""
    metadata = pod["metadata"]
    return LoggedPod(
        metadata["namespace"],
        metadata["name"],
        metadata["uid"],
        started=tuple(name for name in CONTAINERS if has_started(pod, name)),
        ended=frozenset(name for name in CONTAINERS if has_ended(pod, name)),
        over=is_over(pod),
    )


class Memory(OrderedDict[K, V], Generic[K, V]):
    """Keeps the newest so many."""

    def keep(self, key: K, value: V) -> None:
        """Notes it as the newest."""
        self[key] = value
        self.move_to_end(key)
        if len(self) > _REMEMBERED:
            self.popitem(last=False)


class LogReader:
    """All that it remembers saves requests, and may be forgotten."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._marks: Memory[tuple[str, str], Mark] = Memory()
        self._ends: Memory[tuple[str, str], int] = Memory()
        """How long the logs are that were read to their ends."""

    async def read(
        self, pod: LoggedPod, *, offsets: Mapping[str, int], limit: int
    ) -> Sequence[LogChunk]:
        """What each container wrote after its offset, at most `limit` bytes each."""
        chunks = await asyncio.gather(
            *(
                self._chunk(pod, name, start=offsets.get(name, 0), limit=limit)
                for name in pod.started
                if not self._was_read(pod, name, up_to=offsets.get(name, 0))
            )
        )
        return [chunk for chunk in chunks if chunk.data]

    async def tail(self, pod: LoggedPod, container: str, *, lines: int) -> str:
        """The last lines of a container's log."""
        answer = await self._ask(pod, container, {"tailLines": str(lines)})
        return (answer or b"").decode(errors="replace")

    def _was_read(self, pod: LoggedPod, container: str, *, up_to: int) -> bool:
        end = self._ends.get((pod.uid, container))
        return end is not None and end <= up_to

    async def _chunk(self, pod: LoggedPod, container: str, *, start: int, limit: int) -> LogChunk:
        key = (pod.uid, container)
        mark = self._marks.get(key, Mark())
        if mark.offset > start:
            mark = Mark()
        answer = await self._ask(pod, container, mark.query(start=start, limit=limit))
        if answer is None:
            return LogChunk(container, start, b"")
        reading = read_from(answer, mark, start=start, limit=limit)
        self._marks.keep(key, reading.mark)
        if container in pod.ended and len(reading.data) < limit:
            self._ends.keep(key, start + len(reading.data))
        return LogChunk(container, start, reading.data)

    async def _ask(self, pod: LoggedPod, container: str, query: dict[str, str]) -> bytes | None:
        """The log; none where it cannot be had, so that a lost node holds up no verdict."""
        try:
            return await self._server.read_log(
                pod.namespace, pod.name, container=container, query=query
            )
        except (StoreUnavailable, InvalidSetting):
            return None
