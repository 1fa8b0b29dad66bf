"""Heartbeats for activities that wait, and why one was told to stop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from temporalio import activity
from temporalio.exceptions import ApplicationError

BEAT_SECONDS = 3.0
"""Well below the heartbeat timeout, so that a busy machine is not taken for a dead worker."""


class Beats:
    """What they carry to the attempt after this one, should this one be lost.

    The SDK sends the newest every few seconds and when an attempt fails: after a crash the last
    words may be missing.
    """

    def __init__(self) -> None:
        self._said = set(map(str, activity.info().heartbeat_details))

    def heard(self, word: str) -> bool:
        """Whether this attempt or one before it said so."""
        return word in self._said

    def say(self, word: str) -> None:
        """To be heard from now on."""
        self._said.add(word)
        self.beat()

    def beat(self) -> None:
        """One beat, now."""
        activity.heartbeat(*sorted(self._said))


@asynccontextmanager
async def beating() -> AsyncIterator[Beats]:
    """Beats while the body runs; by its beats an activity hears of its cancellation."""
    beats = Beats()
    task = asyncio.create_task(_beat(beats))
    try:
        yield beats
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _beat(beats: Beats) -> None:
    while True:
        beats.beat()
        await asyncio.sleep(BEAT_SECONDS)


async def pause(seconds: float) -> None:
    """Waits; raises a retryable failure at once when the worker is shutting down.

    The next worker goes on from what the outside world says: nothing is lost by leaving.
    """
    if activity.is_worker_shutdown():
        raise _leaving()
    with suppress(TimeoutError):
        await asyncio.wait_for(activity.wait_for_worker_shutdown(), timeout=seconds)
        raise _leaving()


def _leaving() -> ApplicationError:
    return ApplicationError("The worker is shutting down; another one goes on.", type="Leaving")


def asked_to_stop() -> bool:
    """Whether a cancellation was requested, rather than a worker's or an attempt's end."""
    details = activity.cancellation_details()
    return details is not None and details.cancel_requested


def disowned() -> bool:
    """Whether the server no longer knows this attempt: its run ended, or another one goes on."""
    details = activity.cancellation_details()
    return details is not None and (details.not_found or details.timed_out)
