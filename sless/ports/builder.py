"""Builders: an attempt is a Job, keyed by its nonce, that outlives whoever started it."""

from collections.abc import Sequence
from typing import Protocol

from sless.model.attempt import Attempt, AttemptStatus, LogChunk


class Builder(Protocol):
    """Every method may raise `StoreUnavailable`."""

    async def ensure(self, attempt: Attempt, *, context_url: str) -> None:
        """Creates the attempt's Job, or adopts the one that is there and carries its labels.

        `context_url` is presigned: it must enter no log and no payload.
        """
        ...

    async def status(self, attempt: Attempt) -> AttemptStatus:
        """How the Job fares; a Job that vanished has failed with `BuildLost`."""
        ...

    async def read_log(
        self, attempt: Attempt, *, offsets: dict[str, int], limit: int
    ) -> Sequence[LogChunk]:
        """What each container wrote after its offset (0 if unnamed), at most `limit` bytes each."""
        ...

    async def delete(self, attempt: Attempt) -> None:
        """Ends the Job and whatever it started; none there is no error."""
        ...
