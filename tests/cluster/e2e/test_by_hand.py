"""What hands, quotas and functions do that nobody asked them to: each ask ends all the same."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.cluster.chart import SYSTEM, run
from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.e2e.folders import quick
from tests.cluster.e2e.mirror import DEPLOYMENT, NAME, Json, Mirror
from tests.e2e.running import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

BRACKETS = ["sh", "-c", "printf '[%.0s' $(seq 3000); exit 1"]
"""Its last words are JSON that is nested deeper than Python reads."""
ENDS_WHEN_CALLED = """
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        os._exit(7)
http.server.HTTPServer(("", int(os.environ["PORT"])), Handler).serve_forever()
"""
QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "no-deployment"},
    "spec": {"hard": {"count/deployments.apps": "0"}},
}


@contextmanager
def forbidden(home: ClusterHome) -> Iterator[None]:
    """No Deployment may be made while the block lasts."""
    home.kubectl("create", "-f", "-", given=json.dumps(QUOTA))
    try:
        home.kubectl(
            "wait", "quota/no-deployment", "--for=jsonpath={.status.hard}", "--timeout=60s"
        )
        yield
    finally:
        home.kubectl("delete", "quota", "no-deployment")


def greet(mirror: Mirror, greeting: str) -> None:
    """An ask that needs no build."""
    mirror.patch(env=[{"name": "GREETING", "value": greeting}])


def watchers() -> list[Json]:
    """The watcher's containers."""
    words = ["get", "pods", "-l=app.kubernetes.io/component=watcher", "-o=json"]
    items = json.loads(run("kubectl", f"-n={SYSTEM}", *words))["items"]
    return [status for pod in items for status in pod["status"]["containerStatuses"]]


def test_a_pause_ends_with_the_next_ask(mirror: Mirror) -> None:
    mirror.home.kubectl("rollout", "pause", f"deployment/{DEPLOYMENT}")
    greet(mirror, "after a pause")
    mirror.until_ended()
    assert mirror.ask()["env"]["GREETING"] == "after a pause"


def test_a_rollout_that_a_quota_refuses_ends(mirror: Mirror) -> None:
    with forbidden(mirror.home):
        mirror.home.kubectl("delete", "deployment", DEPLOYMENT)
        greet(mirror, "in spite of a quota")
        status = mirror.until_ended("Failed")
        assert status["reason"] == "Forbidden"
        assert "exceeded quota: no-deployment" in status["message"]
    mirror.home.done("retry", NAME)
    assert mirror.ask()["env"]["GREETING"] == "in spite of a quota"


def test_last_words_of_brackets_end_nobody_else(mirror: Mirror) -> None:
    before = [each["restartCount"] for each in watchers()]
    mirror.patch(command=BRACKETS)
    status = mirror.until_ended("Failed")
    assert status["reason"] == "FunctionCrashed"
    assert "[[[" in status["message"]
    assert [each["restartCount"] for each in watchers()] == before


def test_what_crashes_after_it_served_is_told(mirror: Mirror) -> None:
    mirror.patch(command=["python3", "-c", ENDS_WHEN_CALLED])
    mirror.until_ended()

    def is_told() -> bool:
        with suppress(httpx.HTTPError):
            mirror.call()
        return str(mirror.status()["reason"]) == "FunctionCrashed"

    wait_until(is_told, within=120, what=lambda: str(mirror.status()))
    assert "exit code 7" in mirror.status()["message"]


def test_somebody_elses_deployment_is_left_alone_and_told(
    shared_home: ClusterHome, tmp_path: Path
) -> None:
    shared_home.kubectl("create", "deployment", "fn-taken", "--image=example.com/theirs")
    said = shared_home.sless("deploy", str(quick(tmp_path / "taken", "never")), "--name", "taken")
    assert said.returncode != 0
    assert "ManagedElsewhere" in said.stderr
    assert "call the function another name" in said.stderr
    kept = json.loads(shared_home.kubectl("get", "deployment", "fn-taken", "-o=json"))
    assert kept["spec"]["template"]["spec"]["containers"][0]["image"] == "example.com/theirs"
    assert "fn-taken" not in shared_home.kubectl("get", "services", "-o=name")
