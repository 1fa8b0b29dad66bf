"""Asks for functions, and waiting for what becomes of them."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.cluster.chart import Values
from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.e2e.held import Hold, holding
from tests.cluster.e2e.traces import Traces
from tests.e2e.running import wait_until

PATIENCE = 300
"""Seconds for whatever a build comes to."""

Trace = Callable[[ClusterHome, str], Traces]


@pytest.fixture(scope="module")
def trace(installed: Values) -> Trace:
    """Makes the traces of a function."""
    return lambda home, name: Traces(home, name, installed["settings"])


@pytest.fixture
def hold(installed: Values) -> Iterator[Hold]:
    """A package that does not install before it may."""
    with holding(installed["settings"]) as made:
        yield made


@dataclass(frozen=True, slots=True)
class Ask:
    """A function that was asked for, and the build that its ask came to."""

    traces: Traces
    build: str
    at: float
    """By the monotonic clock."""


def asked(traces: Traces, folder: Path) -> Ask:
    """Uploads it without waiting."""
    accepted = traces.home.json("deploy", str(folder), "--name", traces.name, "--no-wait")
    return Ask(traces, accepted["build"], time.monotonic())


def answer(traces: Traces) -> str:
    """What the function says."""
    return traces.home.call(f"{traces.home.namespace}/{traces.name}/").text


def answers(traces: Traces, says: str) -> bool:
    """Whether it says that by now; a gateway may be away."""
    try:
        return answer(traces) == says
    except httpx.HTTPError:
        return False


def until_ended(traces: Traces, phase: str) -> None:
    """Its newest ask came to that end; it must come to no other."""
    wait_until(lambda: traces.ended(phase), within=PATIENCE, what=lambda: str(traces.status()))


def until_it_installs(ask: Ask) -> None:
    """A pod makes its image."""
    wait_until(
        lambda: ask.traces.installs(ask.build),
        within=PATIENCE,
        what=lambda: f"{ask.build} installs: {ask.traces.status()}",
    )


def until_nothing_builds(ask: Ask) -> None:
    """No Job of that build and no pod."""
    wait_until(
        lambda: not ask.traces.jobs(ask.build, kinds="jobs,pods"),
        within=60,
        what=lambda: f"left: {ask.traces.jobs(ask.build, kinds='jobs,pods')}",
    )


def until_runs(ask: Ask, count: int, *, status: str) -> None:
    """So many runs of that build have that status; Temporal's list of runs is a moment late."""
    wait_until(
        lambda: ask.traces.build_runs(ask.build, status=status) == count,
        within=60,
        what=lambda: f"{ask.traces.build_runs(ask.build, status=status)} of {count} are {status}",
    )
