"""A build's log as server-sent events: text whole by character, ids that a reader resumes from."""

import codecs
import json
from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass, field

import structlog

from api.log_chunks import Chunk, render_offsets
from api.log_feed import LogEnd, LogFeed, LogFeeds
from sless.errors import ObjectMissing, Transient
from sless.model.function import FunctionRef

KEEP_ALIVE = b": keep-alive\n\n"
RETRY_MILLISECONDS = 1000
"""How long a browser waits before it reads on."""

log = structlog.get_logger()


def render_event(event: str, data: str, *, event_id: str = "") -> bytes:
    r"""One event. A lone `\r`, as progress bars write it, ends a line: the format has no other."""
    lines = data.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    head = f"event: {event}\n" + (f"id: {event_id}\n" if event_id else "")
    return (head + "".join(f"data: {line}\n" for line in lines) + "\n").encode()


def render_end(end: LogEnd) -> bytes:
    """The last event."""
    return render_event("end", json.dumps(asdict(end)))


@dataclass(slots=True)
class Position:
    """How far one reader is: bytes per stream, and characters that are not whole yet."""

    offsets: dict[str, int]
    _decoders: dict[str, codecs.IncrementalDecoder] = field(default_factory=dict)
    _fetched: dict[str, int] = field(default_factory=dict)

    def take(self, chunk: Chunk, data: bytes) -> str:
        """The text that a chunk adds; the offset stays before a character that is cut."""
        known = self._fetched.get(chunk.stream, self.offsets.get(chunk.stream, 0))
        fresh = data[max(0, known - chunk.start) :]
        if not fresh:
            return ""
        decoder = self._decoders.setdefault(
            chunk.stream, codecs.getincrementaldecoder("utf-8")("replace")
        )
        text = decoder.decode(fresh)
        end = chunk.start + len(data)
        self._fetched[chunk.stream] = end
        # Moved to the end: the id names the stream that moved last, last.
        self.offsets.pop(chunk.stream, None)
        self.offsets[chunk.stream] = end - len(decoder.getstate()[0])
        return text


async def follow(
    feeds: LogFeeds,
    ref: FunctionRef,
    build: str,
    *,
    offsets: dict[str, int],
    keep_alive_seconds: float,
) -> AsyncGenerator[bytes, None]:
    """Events until the build's end. It stops early, without `end`, when the server goes away."""
    position = Position(offsets)
    yield f"retry: {RETRY_MILLISECONDS}\n\n".encode()
    async with feeds.reading(ref, build) as feed:
        seen = 0
        while True:
            while seen < len(feed.chunks) and not feed.closing:
                event = await _event(feeds, feed.chunks[seen], position)
                if event is None:
                    return
                seen += 1
                yield event
            if feed.over:
                break
            if not await _more(feed, seen, keep_alive_seconds):
                yield KEEP_ALIVE
        if feed.end is not None and not feed.closing:
            yield render_end(feed.end)


async def _more(feed: LogFeed, seen: int, seconds: float) -> bool:
    return len(feed.chunks) > seen or feed.over or await feed.grown(seconds)


async def _event(feeds: LogFeeds, chunk: Chunk, position: Position) -> bytes | None:
    """The chunk's event, empty if the reader has it; none when S3 fails: the reader resumes."""
    end = position.offsets.get(chunk.stream, 0)
    try:
        data = await feeds.cache.get(chunk.key)
    except (Transient, ObjectMissing) as error:
        log.warning("a follower is cut off", reason=error.reason, key=chunk.key)
        return None
    text = position.take(chunk, data)
    moved = position.offsets.get(chunk.stream, 0) != end
    if not text and not moved:
        return b""
    return render_event("log", text, event_id=render_offsets(position.offsets))
