"""Builds that do not come to their end on the cluster: superseded, cancelled, or deleted."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from sless.model.phase import Phase
from tests.cluster.chart import run
from tests.cluster.e2e.asking import (
    PATIENCE,
    Trace,
    answer,
    asked,
    hold,
    trace,
    until_ended,
    until_it_installs,
    until_nothing_builds,
    until_runs,
)
from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.e2e.folders import large, late, quick
from tests.cluster.e2e.held import Hold
from tests.cluster.e2e.traces import ORDER, Traces
from tests.cluster.objects import ensure_namespace, ensure_registry_secret
from tests.e2e.running import wait_until

__all__ = ["hold", "trace"]

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]


def test_a_newer_upload_supersedes_one_that_still_builds(
    shared_home: ClusterHome, trace: Trace, hold: Hold, tmp_path: Path
) -> None:
    traces = trace(shared_home, "overtaken")
    older = asked(traces, hold.hold(quick(tmp_path / "older", "older")))
    until_it_installs(older)
    newer = asked(traces, quick(tmp_path / "newer", "newer"))
    until_nothing_builds(older)
    until_ended(traces, "Ready")
    assert traces.status()["build"] == newer.build
    assert answer(traces) == "newer"
    log = ["logs", traces.name, "--build", older.build, "--follow", "-o", "json"]
    end = json.loads(shared_home.done(*log).splitlines()[-1])
    assert (end["event"], end["phase"]) == ("end", "Superseded")
    until_runs(older, 1, status="Canceled")


@pytest.fixture(scope="module")
def serving(
    shared_home: ClusterHome, trace: Trace, tmp_path_factory: pytest.TempPathFactory
) -> Traces:
    """A function that serves."""
    traces = trace(shared_home, "serving")
    folder = quick(tmp_path_factory.mktemp("serving"), "the old one")
    shared_home.done("deploy", str(folder), "--name", traces.name)
    return traces


@pytest.mark.parametrize("at", ["Preparing", "Building", "Deploying"])
def test_a_cancel_leaves_nothing_and_the_old_one_answers(
    serving: Traces, hold: Hold, tmp_path: Path, at: str
) -> None:
    ask = asked(serving, staying(at, hold, tmp_path / "new"))
    wait_until(
        lambda: has_come_to(serving, at), within=PATIENCE, what=lambda: str(serving.status())
    )
    serving.home.done("cancel", serving.name)
    until_ended(serving, "Cancelled")
    assert answer(serving) == "the old one"
    wait_until(lambda: not under_way(serving), within=60, what=lambda: str(under_way(serving)))
    if at != "Deploying":
        until_nothing_builds(ask)
        assert not serving.tags(serving.image(), ask.build), "an image was made"
    until_runs(ask, 0, status="Running")
    run("kubectl", f"-n={serving.home.namespace}", "rollout", "status",
        f"deployment/fn-{serving.name}", "--timeout=60s")  # fmt: skip


def staying(at: str, hold: Hold, folder: Path) -> Path:
    """A function whose ask is in that phase for long."""
    says = f"cancelled while {at}"
    match at:
        case "Preparing":
            return large(folder, says)
        case "Building":
            return hold.hold(quick(folder, says))
        case _:
            return late(folder, says)


def has_come_to(traces: Traces, at: str) -> bool:
    """Phases may pass between two looks at them, but not that of a wait without end."""
    phase = traces.status().get("phase")
    return phase in ORDER and ORDER.index(Phase(at)) <= ORDER.index(Phase(phase)) < len(ORDER) - 1


def under_way(traces: Traces) -> Sequence[str]:
    """Pods that build and have not ended."""
    labels = f"-l=sless.io/namespace={traces.home.namespace},sless.io/name={traces.name}"
    running = "--field-selector=status.phase!=Succeeded,status.phase!=Failed"
    return run("kubectl", "get", "pods", "-n=sless-builds", "-o=name", labels, running).split()


def test_a_function_deleted_while_it_builds_frees_its_name_at_once(
    shared_home: ClusterHome, trace: Trace, hold: Hold, tmp_path: Path
) -> None:
    traces = trace(shared_home, "reused")
    deleted = asked(traces, hold.hold(quick(tmp_path / "deleted", "deleted")))
    until_it_installs(deleted)
    shared_home.done("delete", traces.name, "--yes")
    shared_home.done("deploy", str(quick(tmp_path / "next", "next")), "--name", traces.name)
    assert answer(traces) == "next"
    until_nothing_builds(deleted)
    until_runs(deleted, 0, status="Running")
    assert len(shared_home.json("builds", traces.name)["items"]) == 1


def test_a_namespace_deleted_while_something_builds_stays_gone(
    home: ClusterHome, trace: Trace, hold: Hold, tmp_path: Path
) -> None:
    traces = trace(home, "lost")
    deleted = asked(traces, hold.hold(quick(tmp_path / "deleted", "deleted")))
    until_it_installs(deleted)
    run("kubectl", "delete", "namespace", home.namespace, "--timeout=60s")
    until_nothing_builds(deleted)
    wait_until(
        lambda: traces.function_runs(status="Running") == 0, within=60, what="its run has ended"
    )
    ensure_namespace(home.namespace)
    ensure_registry_secret(home.namespace)
    home.until_nothing_left()
    home.done("deploy", str(quick(tmp_path / "next", "next")), "--name", traces.name)
    assert answer(traces) == "next"
