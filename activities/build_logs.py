"""Copies an attempt's log to S3 while it is written: chunks that are never overwritten."""

from dataclasses import dataclass, field

from sless.model.attempt import Attempt, LogChunk
from sless.naming import log_chunk_key, log_prefix
from sless.ports import Builder, Objects

CHUNK_BYTES = 256 * 1024
"""The most that one chunk holds: enough for few objects, little enough to follow live."""


@dataclass(slots=True)
class LogCopy:
    """Resumes after what is stored; two copies at once agree on one chain of chunks."""

    builder: Builder
    objects: Objects
    attempt: Attempt
    offsets: dict[str, int] = field(default_factory=dict)

    @property
    def prefix(self) -> str:
        """Where the build's chunks lie."""
        attempt = self.attempt
        return log_prefix(attempt.namespace, attempt.name, attempt.build)

    async def resume(self) -> None:
        """Finds where the last chunk of each container ends."""
        last: dict[str, str] = {}
        after, own = "", f"{self.prefix}{self.attempt.nonce}/"
        while keys := await self.objects.list(own, after=after):
            last.update({key.removeprefix(own).split("/")[0]: key for key in keys})
            after = keys[-1]
        for container, key in last.items():
            start = int(key.rsplit("/", 1)[1])
            self.offsets[container] = start + len(await self.objects.get(key))

    async def copy(self) -> bool:
        """Stores what is new; whether there was anything."""
        chunks = await self.builder.read_log(
            self.attempt, offsets=dict(self.offsets), limit=CHUNK_BYTES
        )
        for chunk in chunks:
            await self._store(chunk)
        return bool(chunks)

    async def drain(self) -> None:
        """Stores all that is left."""
        while await self.copy():
            pass

    async def _store(self, chunk: LogChunk) -> None:
        key = log_chunk_key(
            self.prefix, nonce=self.attempt.nonce, container=chunk.container, start=chunk.start
        )
        length = len(chunk.data)
        if not await self.objects.put_if_absent(key, chunk.data):
            # Another attempt of this activity was here first: its chunk may be shorter or longer.
            length = len(await self.objects.get(key))
        self.offsets[chunk.container] = chunk.start + length
