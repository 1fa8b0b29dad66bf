"""Which Functions the watcher judges in a pass."""

from dataclasses import dataclass, replace

import pytest

from sless.model.function import Function, FunctionRef, FunctionSpec
from sless.model.phase import Phase
from sless.model.routed import Routed
from sless.ports.functions import StoredFunction
from sless.ports.runs import Run, RunState
from sless.ports.scene import Standing
from sless.watcher.due import EACH_SECONDS, UNSETTLED_SECONDS, Due, group_runs
from sless.watcher.memory import RECHECK_SECONDS


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def standing(name: str = "hello", *, routed: Routed | None = None) -> Standing:
    spec = FunctionSpec(s3_key="key", runtime="python3.11")
    function = Function("team", name, f"uid-{name}", 1, "7", spec)
    return Standing(StoredFunction(function, {"status": {}}), routed=routed)


def run(name: str = "hello", *, build: str = "", phase: Phase = Phase.PENDING) -> Run:
    kind = f"build/team/{name}/{build}" if build else f"function/team/{name}"
    ref = FunctionRef("team", name)
    return Run(kind, "run", RunState.RUNNING, function=ref, build=build, phase=phase)


ROUTED = Routed("team", "hello", "uid-hello", 1, "instance")


def picks(
    due: Due, *standings: Standing, running: dict[FunctionRef, tuple[Run, ...]] | None = None
) -> list[Standing]:
    return due.pick({each.stored.function.ref: each for each in standings}, running or {})


@pytest.fixture
def clock() -> Clock:
    return Clock()


def settled(clock: Clock, *standings: Standing) -> Due:
    due = Due(clock)
    for each in standings:
        due.note(each, (), settled=True)
    return due


def test_what_was_never_judged_is_due(clock: Clock) -> None:
    assert picks(settled(clock, standing("a")), standing("a"), standing("b")) == [standing("b")]


def test_what_is_settled_is_left_alone_until_the_recheck(clock: Clock) -> None:
    due = settled(clock, standing())
    clock.now += RECHECK_SECONDS / 2 - 0.1
    assert picks(due, standing()) == []
    clock.now += RECHECK_SECONDS + 0.2
    assert picks(due, standing()) == [standing()]


def test_rechecks_are_spread_out(clock: Clock) -> None:
    many = [standing(f"f-{number}") for number in range(300)]
    due = settled(clock, *many)
    counts = []
    for _ in range(30):
        clock.now += RECHECK_SECONDS * 1.5 / 30
        found = picks(due, *many)
        counts.append(len(found))
        for each in found:
            due.note(each, (), settled=True)
    assert sum(counts) >= 300
    assert max(counts) < 60


@pytest.mark.parametrize(
    ("after", "running"),
    [
        (standing(routed=ROUTED), ()),
        (standing(), (run(),)),
    ],
    ids=["it stands differently", "a run began"],
)
def test_a_change_is_judged(clock: Clock, after: Standing, running: tuple[Run, ...]) -> None:
    due = settled(clock, standing())
    assert picks(due, after, running={FunctionRef("team", "hello"): running}) == [after]


def test_a_runs_new_phase_is_judged_and_its_order_is_none(clock: Clock) -> None:
    due = Due(clock)
    before = group_runs([run(), run(build="b")])
    for number in range(100):
        due.note(standing(f"f-{number}"), (), settled=False)
    due.note(standing(), before[FunctionRef("team", "hello")], settled=False)
    assert picks(due, standing(), running=group_runs([run(build="b"), run()])) == []
    moved = group_runs([run(), replace(run(build="b"), phase=Phase.BUILDING)])
    assert picks(due, standing(), running=moved) == [standing()]


@pytest.mark.parametrize(("under_way", "pause"), [(1, EACH_SECONDS), (2000, UNSETTLED_SECONDS)])
def test_what_is_under_way_comes_again_the_later_the_more_there_is(
    clock: Clock, under_way: int, pause: float
) -> None:
    due = Due(clock)
    many = [standing(f"f-{number}") for number in range(under_way)]
    for each in many:
        due.note(each, (), settled=False)
    assert len(due.under_way) == under_way
    clock.now += pause * 0.9
    assert picks(due, many[-1]) == []
    clock.now += pause * 0.2
    assert picks(due, many[-1]) == [many[-1]]


def test_what_is_gone_is_forgotten(clock: Clock) -> None:
    due = Due(clock)
    due.note(standing(), (), settled=False)
    due.keep_only([])
    assert not due.under_way
    assert picks(due, standing()) == [standing()]
