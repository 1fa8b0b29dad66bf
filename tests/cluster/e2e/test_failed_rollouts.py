"""A revision that does not come up is told by its cause, and the one before goes on answering."""

import json

import pytest

from tests.cluster.e2e.mirror import NAME, Json, Mirror, condition

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

HUNGRY = ["python3", "-c", "hoard = b'x' * 10**9; print(len(hoard))"]
"""Takes more than functions may have."""
SLEEPING = ["sleep", "600"]
"""Never listens."""
QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "one-pod"},
    "spec": {"hard": {"pods": "1"}},
}


def failed(mirror: Mirror, reason: str) -> Json:
    """The status of an ask that failed for that reason, while the version before it answers."""
    status = mirror.until_ended("Failed")
    assert status["reason"] == reason, status
    assert condition(status, "Ready") == "False"
    assert condition(status, "Available") == "True"
    assert mirror.ask()["version"] == "one"
    assert len(mirror.jobs()) == 1
    return status


def test_what_never_gets_ready(mirror: Mirror) -> None:
    mirror.patch(command=SLEEPING)
    status = failed(mirror, "ReadinessTimedOut")
    assert "60 s" in status["message"]
    mirror.until_warned("is not ready")


def test_what_needs_more_memory_than_its_limit(mirror: Mirror) -> None:
    mirror.patch(command=HUNGRY)
    status = failed(mirror, "FunctionCrashed")
    assert "more memory than its limit" in status["message"]
    mirror.until_warned("ends again and again")


def test_what_a_quota_forbids(mirror: Mirror) -> None:
    mirror.home.kubectl("create", "-f", "-", given=json.dumps(QUOTA))
    try:
        # One that was made just now forbids nothing yet.
        until_counted = ["--for=jsonpath={.status.hard}", "--timeout=60s"]
        mirror.home.kubectl("wait", "resourcequota/one-pod", *until_counted)
        mirror.patch(env=[{"name": "GREETING", "value": "more"}])
        status = failed(mirror, "FunctionNotStarted")
        assert "The cluster makes no pod" in status["message"]
        assert "exceeded quota: one-pod" in status["message"]
        mirror.until_warned("exceeded quota: one-pod")
    finally:
        mirror.home.kubectl("delete", "resourcequota", "one-pod")
    mirror.home.done("retry", NAME)
    assert mirror.ask()["env"]["GREETING"] == "more"
