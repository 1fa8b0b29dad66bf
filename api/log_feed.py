"""Following a build's log: one poller per build, however many readers it has.

Readers pull: each walks the list of chunks at its own pace and holds one chunk at a time, so that a
slow one costs no memory and delays nobody.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import structlog

from api.answers import find_outcome, page_outcomes
from api.log_chunks import Chunk, ChunkCache, list_chunks
from api.superseded import MESSAGE
from sless.errors import OwnerGone, Superseded, Transient
from sless.model.function import Function, FunctionRef
from sless.model.phase import Phase
from sless.naming import build_id, build_workflow_id, log_prefix
from sless.ports import Functions, Objects, Runs
from sless.ports.runs import RunState

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class LogEnd:
    """Why nothing more will come."""

    phase: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Sources:
    """What tells of logs and of their ends."""

    functions: Functions
    objects: Objects
    runs: Runs


class LogFeed:
    """What is known of one build's log: it only grows."""

    def __init__(self, sources: Sources, ref: FunctionRef, build: str) -> None:
        self.chunks: list[Chunk] = []
        self.end: LogEnd | None = None
        self.closing = False
        self.readers = 0
        self._sources = sources
        self._ref = ref
        self._build = build
        self._known: set[str] = set()
        self._grown = asyncio.Event()

    @property
    def over(self) -> bool:
        """Whether waiting makes no sense."""
        return self.closing or self.end is not None

    async def refresh(self) -> None:
        """Looks once; raises what the ports raise."""
        # The end first: whatever was stored before it is then listed.
        end = await find_end(self._sources, self._ref, self._build)
        prefix = log_prefix(self._ref.namespace, self._ref.name, self._build)
        found = await list_chunks(self._sources.objects, prefix)
        fresh = [chunk for chunk in found if chunk.key not in self._known]
        self.chunks += fresh
        self._known.update(chunk.key for chunk in fresh)
        self.end = end
        if fresh or end is not None:
            self.wake()

    async def poll(self, seconds: float) -> None:
        """Looks until the end; a part that does not answer is asked again."""
        while not self.over:
            try:
                await self.refresh()
            except Transient as error:
                log.warning("a log cannot be followed just now", reason=error.reason)
            except Exception:
                log.exception("a log cannot be followed")
                self.closing = True
                self.wake()
            await asyncio.sleep(seconds)

    async def grown(self, seconds: float) -> bool:
        """Waits for more, or for the end; False when neither came in time."""
        event = self._grown
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()
        return event.is_set()

    def wake(self) -> None:
        """Tells every reader that there is something to see."""
        self._grown.set()
        self._grown = asyncio.Event()


class LogFeeds:
    """The feeds that have readers."""

    def __init__(
        self,
        *,
        functions: Functions,
        objects: Objects,
        runs: Runs,
        poll_seconds: float,
        cache_bytes: int,
    ) -> None:
        self.sources = Sources(functions, objects, runs)
        self.cache = ChunkCache(objects, limit_bytes=cache_bytes)
        self._poll_seconds = poll_seconds
        self._open: dict[tuple[FunctionRef, str], tuple[LogFeed, asyncio.Task[None]]] = {}

    @asynccontextmanager
    async def reading(self, ref: FunctionRef, build: str) -> AsyncIterator[LogFeed]:
        """The build's feed, polled as long as somebody reads it."""
        feed = self._join(ref, build)
        feed.readers += 1
        try:
            yield feed
        finally:
            feed.readers -= 1
            if not feed.readers:
                self._drop(ref, build)

    def close(self) -> None:
        """Has every reader leave: the server is going."""
        for feed, _ in self._open.values():
            feed.closing = True
            feed.wake()

    def _join(self, ref: FunctionRef, build: str) -> LogFeed:
        if (ref, build) not in self._open:
            feed = LogFeed(self.sources, ref, build)
            task = asyncio.create_task(feed.poll(self._poll_seconds))
            self._open[ref, build] = feed, task
        return self._open[ref, build][0]

    def _drop(self, ref: FunctionRef, build: str) -> None:
        _, task = self._open.pop((ref, build))
        task.cancel()


async def find_end(sources: Sources, ref: FunctionRef, build: str) -> LogEnd | None:
    """Whether a build's log is whole: its run is closed, or its ask has an outcome."""
    stored = await sources.functions.find(ref.namespace, ref.name)
    if stored is None:
        return LogEnd(Phase.CANCELLED.value, OwnerGone.reason, "The function was deleted.")
    function = stored.function
    if build_id(function.spec.s3_key) != build:
        return await _end_of_older(sources, function, build)
    outcome = await find_outcome(sources.objects, function, function.generation)
    if outcome is not None:
        return LogEnd(outcome.phase.value, outcome.reason, outcome.message)
    run = await sources.runs.find(build_workflow_id(ref.namespace, ref.name, build))
    if run is None or run.state is RunState.RUNNING or run.ask != function.ask:
        return None
    return LogEnd(run.phase.value if run.phase else run.state.value, run.reason, run.message)


async def _end_of_older(sources: Sources, function: Function, build: str) -> LogEnd:
    page = await page_outcomes(
        sources.objects,
        function,
        token="",
        limit=1,
        wanted=lambda outcome: outcome.build == build,
    )
    if not page.items:
        return LogEnd(Phase.SUPERSEDED.value, Superseded.reason, MESSAGE)
    outcome = page.items[0]
    return LogEnd(outcome.phase.value, outcome.reason, outcome.message)
