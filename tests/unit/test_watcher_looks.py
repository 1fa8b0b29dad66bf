"""How often a look is sent for the same thing."""

from dataclasses import dataclass, field

from sless.model.function import FunctionRef
from sless.watcher.memory import LOOK_BACKOFF_SECONDS, Looks

HELLO, OTHER = FunctionRef("team", "hello"), FunctionRef("team", "other")
LAST = LOOK_BACKOFF_SECONDS[-1]


@dataclass
class Rig:
    now: float = 1000.0
    looks: Looks = field(init=False)

    def __post_init__(self) -> None:
        self.looks = Looks(lambda: self.now)

    def waits(self, count: int, about: str = "ask 1") -> list[float]:
        """Seconds before each of so many looks, of which each comes as soon as it is due."""
        return [self._wait(about) for _ in range(count)]

    def _wait(self, about: str) -> float:
        start = self.now
        while not self.looks.due(HELLO, about):
            self.now += 0.5
        self.looks.note(HELLO, about)
        return self.now - start


def test_what_stays_as_it_is_gets_looks_ever_later() -> None:
    assert Rig().waits(10) == [0, *LOOK_BACKOFF_SECONDS, LAST, LAST, LAST]


def test_another_cause_and_another_function_are_due_at_once() -> None:
    rig = Rig()
    rig.waits(5)
    assert rig.looks.due(HELLO, "ask 2")
    assert rig.looks.due(OTHER, "ask 1")
    assert rig.waits(3, "ask 2") == [0, *LOOK_BACKOFF_SECONDS[:2]]


def test_a_cause_that_was_quiet_for_long_begins_anew() -> None:
    rig = Rig()
    rig.waits(8)
    rig.now += 2 * LAST
    assert rig.waits(3) == [0, *LOOK_BACKOFF_SECONDS[:2]]


def test_functions_that_are_gone_are_forgotten() -> None:
    rig = Rig()
    rig.waits(3)
    rig.looks.keep_only([OTHER])
    assert rig.waits(2) == [0, LOOK_BACKOFF_SECONDS[0]]
