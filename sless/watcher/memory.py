"""What the watcher remembers: outcomes, which never change, and how often it asked for a look."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sless.model.function import Ask, Function, FunctionRef
from sless.model.outcome import Outcome, parse_outcome
from sless.naming import outcome_key, repair_key
from sless.ports import Objects

RECHECK_SECONDS = 30.0
"""How often the note of a failed repair is looked for under an answered ask."""
LOOK_BACKOFF_SECONDS = (1.0, 2.0, 5.0, 15.0, 60.0, 300.0)
"""Between one look for an ask and the next: a run that always fails must not spin."""
QUIET_SECONDS = 2 * LOOK_BACKOFF_SECONDS[-1]
"""After so long without a look the same cause is a new one: hands spoil more than once."""


@dataclass(slots=True)
class Outcomes:
    """Outcomes by ask, read once."""

    objects: Objects
    clock: Callable[[], float] = time.monotonic
    _found: dict[Ask, Outcome] = field(default_factory=dict)
    _repairs: dict[Ask, tuple[float, Outcome | None]] = field(default_factory=dict)

    async def find(self, function: Function) -> Outcome | None:
        """The outcome of its present ask, if there is one."""
        ask = function.ask
        if ask not in self._found:
            key = outcome_key(function.namespace, function.name, ask.uid, ask.generation)
            outcome = await self._read(key)
            if outcome is None:
                return None
            self._found[ask] = outcome
        return self._found[ask]

    async def find_repair(self, function: Function) -> Outcome | None:
        """The note of a failed repair; looked for anew every while."""
        ask = function.ask
        checked, note = self._repairs.get(ask, (float("-inf"), None))
        if note is None and self.clock() - checked > RECHECK_SECONDS:
            key = repair_key(function.namespace, function.name, ask.uid, ask.generation)
            note = await self._read(key)
            self._repairs[ask] = (self.clock(), note)
        return note

    def keep_only(self, asks: Iterable[Ask]) -> None:
        """Forgets the asks of Functions that moved on or are gone."""
        present = set(asks)
        self._found = {ask: kept for ask, kept in self._found.items() if ask in present}
        self._repairs = {ask: kept for ask, kept in self._repairs.items() if ask in present}

    async def _read(self, key: str) -> Outcome | None:
        text = await self.objects.find(key)
        return parse_outcome(text) if text is not None else None


@dataclass(slots=True)
class Looks:
    """How often a look was sent for the same thing, so that a failing run is not spun."""

    clock: Callable[[], float] = time.monotonic
    _sent: dict[FunctionRef, tuple[str, int, float]] = field(default_factory=dict)

    def due(self, function: FunctionRef, about: str) -> bool:
        """Whether a look is due; `about` tells one cause from another."""
        cause, times, at = self._sent.get(function, ("", 0, 0.0))
        if cause != about:
            return True
        wait = LOOK_BACKOFF_SECONDS[min(times - 1, len(LOOK_BACKOFF_SECONDS) - 1)]
        return self.clock() - at >= wait

    def note(self, function: FunctionRef, about: str) -> None:
        """A look was sent."""
        cause, times, at = self._sent.get(function, ("", 0, 0.0))
        again = cause == about and self.clock() - at < QUIET_SECONDS
        self._sent[function] = (about, times + 1 if again else 1, self.clock())

    def keep_only(self, functions: Iterable[FunctionRef]) -> None:
        """Forgets functions that are gone."""
        present = set(functions)
        self._sent = {name: kept for name, kept in self._sent.items() if name in present}
