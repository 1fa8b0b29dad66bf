"""Everything that a build needs is killed while it builds: its end is the same as without."""

from pathlib import Path

import pytest

from tests.cluster.e2e.asking import (
    Ask,
    Trace,
    answers,
    asked,
    hold,
    trace,
    until_ended,
    until_it_installs,
    until_runs,
)
from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.e2e.folders import late, quick
from tests.cluster.e2e.held import Hold
from tests.cluster.e2e.parts import scaled, until_ready
from tests.cluster.e2e.traces import Traces
from tests.cluster.hurt.victims import (
    VICTIMS,
    follower,
    no_room,
    pass_time,
    paused,
)
from tests.e2e.running import wait_until

__all__ = ["hold", "trace"]

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

PAUSE_SECONDS = 30
"""More than two heartbeats' worth: everybody else takes the worker for dead."""
START_SECONDS = 8
"""Of a revision that is hit while it starts."""


@pytest.fixture(scope="module")
def serving(
    shared_home: ClusterHome, trace: Trace, tmp_path_factory: pytest.TempPathFactory
) -> Traces:
    """A function that serves."""
    traces = trace(shared_home, "hurt")
    folder = quick(tmp_path_factory.mktemp("hurt"), "first")
    shared_home.done("deploy", str(folder), "--name", traces.name)
    return traces


def assert_ended_well(ask: Ask, *, says: str, rollouts: int, jobs: int = 1) -> None:
    """One image, one completed run, one rollout."""
    traces = ask.traces
    until_ended(traces, "Ready")
    # So that all of them can be asked, and the next victim finds them as this one did.
    until_ready()
    wait_until(lambda: answers(traces, says), within=60, what=f"it says {says}")
    newest = traces.home.json("builds", traces.name)["items"][0]
    assert (newest["id"], newest["phase"]) == (ask.build, "Ready")
    assert len(traces.jobs(ask.build)) == jobs
    tags = traces.tags(traces.image(), ask.build)
    assert ask.build in tags
    assert len(set(tags.values())) == 1, tags
    until_runs(ask, 1, status="Completed")
    assert traces.build_runs(ask.build) == 1
    assert traces.rollouts() == rollouts


@pytest.mark.parametrize("victim", VICTIMS)
def test_it_is_killed_while_an_image_is_built(
    serving: Traces, hold: Hold, tmp_path: Path, victim: str
) -> None:
    before, says = serving.rollouts(), f"in spite of {victim}"
    ask = asked(serving, hold.hold(quick(tmp_path / "new", says)))
    until_it_installs(ask)
    VICTIMS[victim](ask)
    hold.let_go()
    jobs = 2 if victim == "build" else 1
    assert_ended_well(ask, says=says, rollouts=before + 1, jobs=jobs)


@pytest.mark.parametrize("victim", ["worker", "temporal", "api server"])
def test_it_is_killed_while_a_revision_is_rolled_out(
    serving: Traces, tmp_path: Path, victim: str
) -> None:
    before, says = serving.rollouts(), f"rolled out in spite of {victim}"
    ask = asked(serving, late(tmp_path / "new", says, seconds=START_SECONDS))
    wait_until(lambda: serving.rollouts() > before, within=300, what=lambda: str(serving.status()))
    VICTIMS[victim](ask)
    assert_ended_well(ask, says=says, rollouts=before + 1)


def test_a_worker_that_is_paused_has_its_build_followed_and_not_started_again(
    serving: Traces, hold: Hold, tmp_path: Path
) -> None:
    before, says = serving.rollouts(), "in spite of a pause"
    with scaled("worker", 2):
        ask = asked(serving, hold.hold(quick(tmp_path / "new", says)))
        until_it_installs(ask)
        worker = follower(ask)
        with paused(worker):
            pass_time(PAUSE_SECONDS)
            # The paused one may have been given it once more: it had asked for work before.
            wait_until(lambda: follower(ask) != worker, within=60, what="another one follows it")
            assert len(serving.jobs(ask.build)) == 1
        hold.let_go()
        assert_ended_well(ask, says=says, rollouts=before + 1)


def test_a_build_waits_for_a_node(serving: Traces, tmp_path: Path) -> None:
    before, says = serving.rollouts(), "in spite of no room"
    with no_room():
        ask = asked(serving, quick(tmp_path / "new", says))
        wait_until(
            lambda: "FailedScheduling" in str(serving.home.json("get", serving.name)["warnings"]),
            within=60,
            what=lambda: f"it is told: {serving.home.done('get', serving.name)}",
        )
    assert_ended_well(ask, says=says, rollouts=before + 1)
