"""When an issuer's keys are looked at again: decided here, done in `sless.tokens.key_cache`."""

from dataclasses import dataclass, replace
from enum import Enum, auto

_NEVER = float("-inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTimes:
    """How long keys are believed, in seconds."""

    refresh: float
    """Age from which a use has them fetched again beside it; from twice that, before it."""
    stale: float
    """Age from which they are not believed, if the issuer has failed ever since."""
    cool_down: float
    """Between two fetches for unknown keys, and between two that fail."""

    @property
    def old(self) -> float:
        """Age from which nothing is read before the keys were fetched again."""
        return 2 * self.refresh


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyAges:
    """What happened when, by one steady clock, in seconds."""

    fetched: float = _NEVER
    """When the keys that we have were asked for."""
    missed: float = _NEVER
    """When we asked for a key in vain: the issuer answered, or not, without it."""
    failed: float = _NEVER
    """When the last fetch ended, if that failed."""

    def after_success(self, *, began: float, missed: float | None) -> "KeyAges":
        """Likewise after a fetch that brought keys; when it ended, if not the one asked for."""
        return KeyAges(fetched=began, missed=self.missed if missed is None else missed)

    def after_failure(self, *, ended: float) -> "KeyAges":
        """Likewise after one that did not."""
        return replace(self, failed=ended)


class KeyStep(Enum):
    """What comes next for a token that names a key."""

    USE = auto()
    USE_AND_FETCH = auto()
    """Use it; fetch beside that, and let nobody wait."""
    FETCH = auto()
    """Fetch, wait for it, decide again."""
    REFUSE = auto()
    """There is no such key."""
    UNAVAILABLE = auto()
    """Whether there is one cannot be known now."""


def next_key_step(times: KeyTimes, ages: KeyAges, *, known: bool, now: float) -> KeyStep:
    """What to do about a key that we have, or not, at that time."""
    resting = now - ages.failed < times.cool_down
    if known:
        return _step_of_known(times, ages, resting=resting, now=now)
    if resting:
        return KeyStep.UNAVAILABLE
    return KeyStep.REFUSE if now - ages.missed < times.cool_down else KeyStep.FETCH


def _step_of_known(times: KeyTimes, ages: KeyAges, *, resting: bool, now: float) -> KeyStep:
    age = now - ages.fetched
    if age < times.refresh:
        return KeyStep.USE
    failing = ages.failed > ages.fetched
    # An issuer that is down shall cost nobody its time limit.
    if age < (times.stale if failing else times.old):
        return KeyStep.USE if resting else KeyStep.USE_AND_FETCH
    return KeyStep.UNAVAILABLE if resting else KeyStep.FETCH
