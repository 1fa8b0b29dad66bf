"""A build's log as it grows, across dropped connections and restarts of the server."""

import json
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from httpx_sse import EventSource, SSEError

from sless.cli.api import Api
from sless.cli.exits import Exit, Stop
from sless.cli.output import Json
from sless.cli.patience import Patience
from sless.cli.shapes import parse_state, text_at
from sless.model.function import FunctionRef
from sless.model.phase import Phase


@dataclass(frozen=True, slots=True)
class LogText:
    """A piece of log; it may end within a line."""

    id: str
    """Names the position after it."""
    text: str


@dataclass(frozen=True, slots=True)
class LogEnd:
    """Nothing more will come."""

    phase: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class LogPlace:
    """How far a build's log was read."""

    build: str
    last: str = ""
    """The last event's id; empty for nothing."""


def find_log_end(api: Api, ref: FunctionRef, manifest: Json | None) -> LogPlace | None:
    """Where the log of a build that has failed ends, so that the next attempt's can be told apart.

    None where the function's newest build goes on or went well.
    """
    state = parse_state(manifest or {})
    if state.phase not in {Phase.FAILED, Phase.CANCELLED} or state.observed != state.generation:
        return None
    place = LogPlace(state.build)
    with suppress(Stop):  # There may be none; a log that is shown twice is no reason to end.
        for event in _read(api, ref, place):
            if isinstance(event, LogEnd):
                break
            place = LogPlace(place.build, event.id)
    return place


def follow_log(
    api: Api, ref: FunctionRef, place: LogPlace, *, tell: Callable[[str], None]
) -> Iterator[LogText | LogEnd]:
    """Every piece after that place once, then the end; raises `Stop` if the server stays away."""
    last = place.last
    patience = Patience(tell)
    while True:
        try:
            for event in _read(api, ref, LogPlace(place.build, last)):
                patience.answered()
                yield event
                if isinstance(event, LogEnd):
                    return
                last = event.id or last
        except Stop as stop:
            patience.endure(stop)
            api.connection.find_again()
        else:
            patience.endure(Stop("The log's stream was cut: try again.", Exit.UNREACHABLE))


def _read(api: Api, ref: FunctionRef, place: LogPlace) -> Iterator[LogText | LogEnd]:
    with api.follow(ref, place.build, last=place.last) as response:
        try:
            for event in EventSource(response).iter_sse():
                if event.event == "end":
                    yield _parse_end(event.data)
                elif event.event == "log":
                    yield LogText(event.id, event.data)
        except SSEError as error:
            raise Stop(f"The log is no event stream ({error}): check --server.") from error


def _parse_end(data: str) -> LogEnd:
    try:
        content = json.loads(data)
    except ValueError:
        content = {}
    return LogEnd(*(text_at(content, key) for key in ("phase", "reason", "message")))


class Lines:
    """Puts pieces of text together into whole lines."""

    def __init__(self) -> None:
        self._rest = ""

    def feed(self, text: str) -> list[str]:
        """The lines that this piece completes."""
        *lines, self._rest = (self._rest + text).split("\n")
        return [line.rstrip("\r") for line in lines]

    def flush(self) -> list[str]:
        """The last line, if it has no end of its own."""
        rest, self._rest = self._rest, ""
        return [rest] if rest else []


class LogTail:
    """Follows a log in a thread, while the main one watches the ask."""

    def __init__(self, api: Api, ref: FunctionRef, place: LogPlace) -> None:
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._follow = (api, ref, place)
        # A daemon: Ctrl-C ends the command although the thread waits for its next byte.
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def drain(self) -> list[str]:
        """The lines that came since the last call."""
        return [self._lines.get() for _ in range(self._lines.qsize())]

    def finish(self, seconds: float) -> list[str]:
        """The remaining lines, waiting for the log's end for at most so long."""
        self._thread.join(seconds)
        return self.drain()

    def _run(self) -> None:
        api, ref, place = self._follow
        lines = Lines()
        try:
            # The main thread tells of a server that went away.
            for event in follow_log(api, ref, place, tell=lambda _: None):
                if isinstance(event, LogText):
                    self._put(lines.feed(event.text))
        except (Stop, RuntimeError):
            # The ask's end is what matters, and the main thread sees that; it may also have ended
            # the wait and closed the connection, which httpx calls a RuntimeError.
            pass
        self._put(lines.flush())

    def _put(self, lines: list[str]) -> None:
        for line in lines:
            self._lines.put(line)
