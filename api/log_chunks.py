"""A build's stored log: chunks by key, read through a cache that all readers share."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from api.zips import keys_under
from sless.model.attempt import CONTAINERS
from sless.ports import Objects


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some bytes of one container's log."""

    key: str
    stream: str
    """`<nonce>/<container>`."""
    start: int
    """Offset of its first byte in the stream."""


def parse_chunk(key: str, prefix: str) -> Chunk | None:
    """A chunk by its key, or none for somebody's own file."""
    stream, _, start = key.removeprefix(prefix).rpartition("/")
    if stream.count("/") != 1 or not (start.isascii() and start.isdecimal()):
        return None
    return Chunk(key, stream, int(start))


async def list_chunks(objects: Objects, prefix: str) -> list[Chunk]:
    """What is stored, in the order in which it ran; raises `StorageUnavailable`."""
    keys = await keys_under(objects, prefix)
    found = (chunk for key in keys if (chunk := parse_chunk(key, prefix)) is not None)
    return sorted(found, key=_place)


def _place(chunk: Chunk) -> tuple[str, int, str, int]:
    """Attempts sort by their nonces, which start with the time; containers as a Job runs them."""
    nonce, _, container = chunk.stream.partition("/")
    known = container in CONTAINERS
    rank = CONTAINERS.index(container) if known else len(CONTAINERS)
    return nonce, rank, container, chunk.start


Offsets = Mapping[str, int]
"""How much of each stream a reader has, in bytes."""


def parse_offsets(event_id: str) -> dict[str, int]:
    """The offsets in a Last-Event-ID; what cannot be read counts as nothing read."""
    found: dict[str, int] = {}
    for place in event_id[:4096].split(","):
        stream, _, offset = place.strip().rpartition("/")
        if stream.count("/") == 1 and offset.isascii() and offset.isdecimal():
            found[stream] = int(offset)
    return found


def render_offsets(offsets: Offsets) -> str:
    """Offsets as an event id, the stream that moved last at the end."""
    return ",".join(f"{stream}/{offset}" for stream, offset in offsets.items())


class ChunkCache:
    """Chunks never change: each is fetched once, however many readers want it at once."""

    def __init__(self, objects: Objects, *, limit_bytes: int) -> None:
        self._objects = objects
        self._limit = limit_bytes
        self._held: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._coming: dict[str, asyncio.Task[bytes]] = {}

    async def get(self, key: str) -> bytes:
        """A chunk's bytes; raises `ObjectMissing`, `StorageUnavailable`."""
        if key in self._held:
            self._held.move_to_end(key)
            return self._held[key]
        task = self._coming.get(key)
        if task is None:
            task = asyncio.create_task(self._fetch(key))
            self._coming[key] = task
        # One reader that leaves must not take the chunk from the others.
        return await asyncio.shield(task)

    async def _fetch(self, key: str) -> bytes:
        try:
            data = await self._objects.get(key)
        finally:
            del self._coming[key]
        self._hold(key, data)
        return data

    def _hold(self, key: str, data: bytes) -> None:
        self._held[key] = data
        self._size += len(data)
        while self._size > self._limit:
            _, dropped = self._held.popitem(last=False)
            self._size -= len(dropped)
