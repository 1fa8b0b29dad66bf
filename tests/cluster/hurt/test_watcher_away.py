"""The watcher is away, or starts anew: nothing waits for it, and nothing is written twice."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.chart import run
from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.e2e.mirror import NAME, Mirror, writes
from tests.cluster.e2e.parts import scaled
from tests.e2e.running import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


def test_functions_and_namespaces_go_while_nobody_watches(
    make_home: Callable[[], ClusterHome], tmp_path: Path
) -> None:
    alone, whole = make_home(), make_home()
    Mirror(alone, tmp_path / "alone").deploy("one")
    Mirror(whole, tmp_path / "whole").deploy("one")
    with scaled("watcher", 0):
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
    with scaled("watcher", 0):
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
