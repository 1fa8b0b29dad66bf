"""Waiting for one ask to be answered."""

import time
from dataclasses import dataclass

from sless.cli.api import Api
from sless.cli.exits import Exit, Stop
from sless.cli.log_stream import LogPlace, LogTail
from sless.cli.output import Json
from sless.cli.patience import Patience
from sless.cli.reporter import Reporter
from sless.cli.shapes import AskReply, FunctionState, parse_state
from sless.cli.texts import command, duration, sentence, words
from sless.errors import FunctionNotFound, OwnerGone, Superseded, leaves
from sless.model.function import FunctionRef
from sless.model.phase import Phase

_POLL_SECONDS = 0.2
LOG_END_SECONDS = 5.0
"""For the log's last lines to arrive, once the ask is answered."""
_TROUBLES = {leaf.reason for leaf in leaves()}
_BUILDING = {Phase.PREPARING.value, Phase.BUILDING.value}


@dataclass(frozen=True, slots=True)
class Answer:
    """How an ask ended, as far as it concerns the one who made it."""

    phase: str
    reason: str
    message: str
    build: str
    url: str
    log_shown: bool = False

    @property
    def ready(self) -> bool:
        """Whether the function serves what was asked for."""
        return self.phase == Phase.READY


class AskWatch:
    """Follows one ask and shows what happens to it."""

    def __init__(
        self, api: Api, ask: AskReply, *, reporter: Reporter, seen: LogPlace | None
    ) -> None:
        self._api = api
        self._ask = ask
        self._ref = FunctionRef(ask.namespace, ask.name)
        self._reporter = reporter
        self._patience = Patience(reporter.note)
        self._phase = ""
        self._told: set[str] = set()
        self._place = place_for(ask, seen)
        self._tail: LogTail | None = None

    def wait(self, *, seconds: float) -> Answer:
        """The ask's end; raises `Stop` when it is not there within so many seconds."""
        deadline = time.monotonic() + seconds
        while True:
            answer = self._look()
            if answer is not None:
                self._show_rest()
                self._reporter.end(well=answer.ready)
                return answer
            if time.monotonic() > deadline:
                raise Stop(
                    f"No end after {duration(seconds)}, but the work goes on: see "
                    f"{self._command('get')}, or give a longer --timeout."
                )
            self._show_log()
            time.sleep(_POLL_SECONDS)

    def _look(self) -> Answer | None:
        try:
            manifest = self._api.function(self._ref)
        except Stop as stop:
            return self._look_failed(stop)
        self._patience.answered()
        return self._judge(parse_state(manifest))

    def _look_failed(self, stop: Stop) -> Answer | None:
        if stop.reason == FunctionNotFound.reason:
            return self._gone()
        self._patience.endure(stop)
        self._api.connection.find_again()
        return None

    def _judge(self, state: FunctionState) -> Answer | None:
        ask = self._ask
        if state.uid != ask.uid:
            return self._gone()
        if state.answers(ask.generation):
            return self._answer(state)
        if state.generation > ask.generation:
            return self._overtaken(state)
        if state.observed == ask.generation:
            self._show_phase(state.phase)
            self._show_trouble(state)
        return None

    def _answer(self, state: FunctionState) -> Answer:
        return Answer(
            phase=state.phase,
            reason=state.reason,
            message=state.message,
            build=state.build or self._ask.build,
            url=state.url or self._ask.url,
            log_shown=self._tail is not None,
        )

    def _overtaken(self, state: FunctionState) -> Answer:
        return self._ended(
            Superseded.reason,
            f"A newer ask (generation {state.generation}) overtook this one (generation "
            f"{self._ask.generation}) and answers it: see {self._command('get')}.",
        )

    def _gone(self) -> Answer:
        return self._ended(
            OwnerGone.reason, f"{self._ref} was deleted meanwhile: deploy it again if it is wanted."
        )

    def _ended(self, reason: str, message: str) -> Answer:
        ask = self._ask
        return Answer(Phase.SUPERSEDED.value, reason, message, ask.build, ask.url)

    def _show_phase(self, phase: str) -> None:
        if phase and phase != self._phase:
            self._phase = phase
            self._reporter.phase(phase)
        if phase in _BUILDING and self._tail is None:
            self._tail = LogTail(self._api, self._ref, self._place)

    def _show_trouble(self, state: FunctionState) -> None:
        """What it struggles with, once: it may pass, or be the end of it much later."""
        if state.reason in _TROUBLES - self._told:
            self._told.add(state.reason)
            self._reporter.note(f"{sentence(state.message).rstrip('.')} [{state.reason}]")

    def _show_log(self) -> None:
        for line in self._tail.drain() if self._tail else ():
            self._reporter.log(line)

    def _show_rest(self) -> None:
        for line in self._tail.finish(LOG_END_SECONDS) if self._tail else ():
            self._reporter.log(line)

    def _command(self, verb: str) -> str:
        return command(verb, *words(self._ref))


def place_for(ask: AskReply, seen: LogPlace | None) -> LogPlace:
    """Where the ask's log begins: behind what an earlier attempt at the same build left."""
    return seen if seen is not None and seen.build == ask.build else LogPlace(ask.build)


def wait_for(
    api: Api, ask: AskReply, *, reporter: Reporter, seconds: float, seen: LogPlace | None = None
) -> Answer:
    """The ask's end, shown while it comes; Ctrl-C ends the waiting and not the work."""
    watch = AskWatch(api, ask, reporter=reporter, seen=seen)
    try:
        return watch.wait(seconds=seconds)
    except KeyboardInterrupt as interrupt:
        name = words(FunctionRef(ask.namespace, ask.name))
        raise Stop(
            f"Stopped waiting, but the work goes on: {command('get', *name)} shows it, "
            f"{command('cancel', *name)} ends it.",
            Exit.INTERRUPTED,
        ) from interrupt


def result_of(ask: AskReply, answer: Answer | None) -> Json:
    """What `-o json` prints of an ask; without an answer the phase is Pending."""
    return {
        "namespace": ask.namespace,
        "name": ask.name,
        "generation": ask.generation,
        "build": answer.build if answer else ask.build,
        "phase": answer.phase if answer else Phase.PENDING.value,
        "reason": answer.reason if answer else "",
        "message": answer.message if answer else "",
        "url": ask.url,
        "logUrl": ask.log_url,
        "temporalUrl": ask.temporal_url,
        "warnings": list(ask.warnings),
    }
