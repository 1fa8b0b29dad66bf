"""The watcher is away, or starts anew: nothing waits for it, and nothing is written twice."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.chart import SYSTEM, run
from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.e2e.mirror import NAME, Mirror, writes
from tests.e2e.running import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

WATCHER = "deployment/sless-watcher"
PODS = "-l=app.kubernetes.io/component=watcher"


@contextlib.contextmanager
def without_watcher() -> Iterator[None]:
    """None of its pods is left meanwhile."""
    try:
        run("kubectl", f"-n={SYSTEM}", "scale", WATCHER, "--replicas=0")
        run("kubectl", f"-n={SYSTEM}", "wait", "pods", PODS, "--for=delete", "--timeout=120s")
        yield
    finally:
        run("kubectl", f"-n={SYSTEM}", "scale", WATCHER, "--replicas=1")
        run("kubectl", f"-n={SYSTEM}", "rollout", "status", WATCHER, "--timeout=120s")


def test_functions_and_namespaces_go_while_nobody_watches(
    make_home: Callable[[], ClusterHome], tmp_path: Path
) -> None:
    alone, whole = make_home(), make_home()
    Mirror(alone, tmp_path / "alone").deploy("one")
    Mirror(whole, tmp_path / "whole").deploy("one")
    with without_watcher():
        alone.kubectl("delete", "fn", NAME, "--timeout=30s")
        alone.until_nothing_left()
        run("kubectl", "delete", "namespace", whole.namespace, "--timeout=120s")
    # What it did not see go, it does not miss: the name is free at once.
    Mirror(alone, tmp_path / "alone").deploy("two")
    whole.until_nothing_left()
    assert run("kubectl", "get", "namespace", whole.namespace, "--ignore-not-found") == ""


def test_a_watcher_that_starts_anew_writes_what_is_missing_alone(
    home: ClusterHome, tmp_path: Path
) -> None:
    mirror = Mirror(home, tmp_path / NAME)
    mirror.deploy("one")
    before, status = writes(mirror.deployment()), mirror.status()
    with without_watcher():
        none = '-p={"status":null}'
        home.kubectl("patch", "fn", NAME, "--type=merge", "--subresource=status", none)
    # A status that is back tells that the function was judged.
    wait_until(
        lambda: mirror.status().get("phase") == status["phase"],
        within=60,
        what=lambda: str(mirror.status()),
    )
    assert writes(mirror.deployment()) == before
    assert mirror.status()["revision"] == status["revision"]
