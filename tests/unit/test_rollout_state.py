"""How a rollout fares: a table of Deployments, ReplicaSets and pods as they are shown."""

import json
from typing import Any

import pytest

from sless.adapters.kubernetes.rollout_state import judge
from sless.model.deployment import Availability, Progress

IMAGE = "registry/sless/team/not-found@sha256:403"
PROGRESSING, AVAILABLE = Progress.PROGRESSING, Progress.AVAILABLE
FAILED = Progress.FAILED

SLOW = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}
QUOTA = {"type": "ReplicaFailure", "status": "True", "message": 'pods "fn" is forbidden: quota'}
SERVING = {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}


def deployment(*conditions: dict[str, Any], observed: int = 7, replicas: int = 1) -> dict[str, Any]:
    """At its second revision; by its own words it is available, which the old pods make true."""
    return {
        "metadata": {
            "uid": "d",
            "generation": 7,
            "annotations": {"deployment.kubernetes.io/revision": "2"},
        },
        "spec": {"replicas": replicas, "progressDeadlineSeconds": 60},
        "status": {"observedGeneration": observed, "conditions": [SERVING, *conditions]},
    }


def paused(live: dict[str, Any]) -> dict[str, Any]:
    return {**live, "spec": {**live["spec"], "paused": True}}


def replica_set(revision: int, *, available: int = 0, owner: str = "d") -> dict[str, Any]:
    return {
        "metadata": {
            "labels": {"pod-template-hash": f"h{revision}"},
            "annotations": {"deployment.kubernetes.io/revision": str(revision)},
            "ownerReferences": [{"uid": owner}],
        },
        # The API server leaves a 0 out.
        "status": {"availableReplicas": available} if available else {},
    }


def pod(
    state: dict[str, Any] | None = None,
    *,
    last: dict[str, Any] | None = None,
    revision: int = 2,
    ready: bool = False,
    **metadata: str,
) -> dict[str, Any]:
    own = {"name": "function", "image": IMAGE, "ready": ready}
    statuses = [own | {"state": state, "lastState": last or {}}] if state is not None else []
    return {
        "metadata": {"labels": {"pod-template-hash": f"h{revision}"}, **metadata},
        "status": {"containerStatuses": statuses},
    }


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    return {"waiting": {"reason": reason, "message": message}}


def ended(message: str = "", *, code: int = 1, reason: str = "Error") -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "reason": reason, "message": message}}


def unschedulable() -> dict[str, Any]:
    lacking = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/1 nodes are available: 1 Insufficient memory.",
    }
    return {
        "metadata": {"labels": {"pod-template-hash": "h2"}},
        "status": {"conditions": [lacking]},
    }


RUNNING: dict[str, Any] = {"running": {"startedAt": "2026-01-01T12:00:00Z"}}
BACK_OFF = waiting("CrashLoopBackOff", "back-off 10s restarting failed container")
OLD = replica_set(1, available=1)


def words(reason: str, message: str) -> dict[str, Any]:
    return ended(json.dumps({"reason": reason, "message": message}) + "\n")


STATES = {
    "the status speaks of an older write": (
        deployment(SLOW, observed=6),
        [OLD, replica_set(2, available=1)],
        Progress.PROGRESSING,
    ),
    "no replica set yet": (deployment(), [OLD], PROGRESSING),
    "the old one serves, the new one does not yet": (
        deployment(),
        [OLD, replica_set(2)],
        PROGRESSING,
    ),
    "the new one serves beside the old one": (
        deployment(),
        [OLD, replica_set(2, available=1)],
        AVAILABLE,
    ),
    "some of its pods serve": (
        deployment(replicas=3),
        [replica_set(2, available=2)],
        PROGRESSING,
    ),
    "scaled to nothing": (deployment(replicas=0), [replica_set(2)], AVAILABLE),
    "another Deployment's of that name": (
        deployment(),
        [replica_set(2, available=1, owner="gone")],
        PROGRESSING,
    ),
    "paused before there was a new one": (
        paused(deployment()),
        [OLD, replica_set(2, available=1)],
        PROGRESSING,
    ),
    "the deadline passed": (deployment(SLOW), [OLD, replica_set(2)], FAILED),
    "serves although the deadline passed": (
        deployment(SLOW),
        [OLD, replica_set(2, available=1)],
        AVAILABLE,
    ),
}


@pytest.mark.parametrize(
    ("live", "replica_sets", "progress"), list(STATES.values()), ids=list(STATES)
)
def test_the_new_replica_set_is_judged(
    live: dict[str, Any], replica_sets: list[dict[str, Any]], progress: Progress
) -> None:
    assert judge(live, replica_sets=replica_sets, pods=[]).progress is progress


def test_one_that_is_scaled_to_nothing_says_why_nothing_answers() -> None:
    found = judge(deployment(replicas=0), replica_sets=[replica_set(2)], pods=[])
    assert "scaled to 0" in found.message
    serving = judge(deployment(), replica_sets=[replica_set(2, available=1)], pods=[])
    assert not serving.message


PULL = 'failed to pull and unpack image "{}": {}'
CAUSES = {
    "manifest gone": (
        pod(waiting("ErrImagePull", PULL.format(IMAGE, "manifest unknown"))),
        "ImageMissing",
        "manifest unknown",
    ),
    "back-off tells": (
        pod(waiting("ImagePullBackOff", f'Back-off pulling image "{IMAGE}": {IMAGE}: not found')),
        "ImageMissing",
        "not found",
    ),
    "back-off tells nothing but the image": (
        pod(waiting("ImagePullBackOff", f'Back-off pulling image "{IMAGE}"')),
        "RegistryUnavailable",
        "Back-off",
    ),
    "registry away": (
        pod(waiting("ErrImagePull", PULL.format(IMAGE, "dial tcp: connection refused"))),
        "RegistryUnavailable",
        "refused",
    ),
    "registry says no": (
        pod(waiting("ErrImagePull", PULL.format(IMAGE, "401 Unauthorized"))),
        "RegistryDenied",
        "401",
    ),
    "our last words": (
        pod(BACK_OFF, last=words("HandlerImportFailed", "No module named 'x'")),
        "HandlerImportFailed",
        "No module named 'x'",
    ),
    "our last words just now": (
        pod(words("HandlerNotFound", "main has no app")),
        "HandlerNotFound",
        "main has no app",
    ),
    "words of no reason of ours": (
        pod(BACK_OFF, last=words("Superseded", "says the function")),
        "FunctionCrashed",
        "says the function",
    ),
    "its log's last line": (
        pod(BACK_OFF, last=ended("Traceback\n  File\nValueError: no\n", code=3)),
        "FunctionCrashed",
        "exit code 3: ValueError: no",
    ),
    "half a character": (
        pod(BACK_OFF, last=words("FunctionCrashed", "half \ud83d of one")),
        "FunctionCrashed",
        "half ? of one",
    ),
    "JSON nested deeper than can be read": (
        pod(BACK_OFF, last=ended("[" * 4000)),
        "FunctionCrashed",
        "exit code 1: [[[",
    ),
    "JSON that is no object": (pod(BACK_OFF, last=ended("[1]")), "FunctionCrashed", "[1]"),
    "silent": (pod(BACK_OFF, last=ended(code=0)), "FunctionCrashed", "said nothing"),
    "killed": (pod(BACK_OFF, last=ended(code=137)), "FunctionCrashed", "(killed)"),
    "out of memory": (
        pod(BACK_OFF, last=ended(code=137, reason="OOMKilled")),
        "FunctionCrashed",
        "more memory than its limit",
    ),
    "started again and not ready": (
        pod(RUNNING, last=words("FunctionCrashed", "boom")),
        "FunctionCrashed",
        "boom",
    ),
    "no such user": (
        pod(waiting("CreateContainerConfigError", "image will run as root")),
        "FunctionNotStarted",
        "run as root",
    ),
    "no such program": (
        pod(BACK_OFF, last=ended("exec: python: not found", code=128, reason="StartError")),
        "FunctionNotStarted",
        "exec: python",
    ),
    "no node": (unschedulable(), "FunctionNotStarted", "Insufficient memory"),
}


@pytest.mark.parametrize(("bad", "reason", "said"), list(CAUSES.values()), ids=list(CAUSES))
@pytest.mark.parametrize(("conditions", "progress"), [((), PROGRESSING), ((SLOW,), FAILED)])
def test_the_cause_is_its_pods(
    bad: dict[str, Any],
    reason: str,
    said: str,
    *,
    conditions: tuple[dict[str, Any], ...],
    progress: Progress,
) -> None:
    sets = [OLD, replica_set(2)]
    pods = [pod(RUNNING, revision=1, ready=True), pod(), bad]
    judged = judge(deployment(*conditions), replica_sets=sets, pods=pods)
    assert (judged.progress, judged.reason) == (progress, reason)
    assert said in judged.message


@pytest.mark.parametrize(
    "other",
    [
        pod(BACK_OFF, last=ended("old"), revision=1),
        pod(BACK_OFF, last=ended("left"), deletionTimestamp="2026-01-01T12:00:00Z"),
        pod(RUNNING, last=ended("before"), ready=True),
        pod(waiting("ContainerCreating")),
        pod(RUNNING),
    ],
    ids=["of the old revision", "being deleted", "ready again", "being made", "starting"],
)
def test_what_is_no_trouble(other: dict[str, Any]) -> None:
    sets = [OLD, replica_set(2)]
    assert judge(deployment(), replica_sets=sets, pods=[other]) == Availability()
    judged = judge(deployment(SLOW), replica_sets=sets, pods=[other])
    assert (judged.progress, judged.reason) == (FAILED, "ReadinessTimedOut")
    assert "within 60 s" in judged.message


def restarted(thing: dict[str, Any]) -> dict[str, Any]:
    thing["status"]["containerStatuses"][0]["restartCount"] = 1
    return thing


NO_MODULE = words("HandlerImportFailed", "No module named 'x'")


@pytest.mark.parametrize("state", [BACK_OFF, NO_MODULE], ids=["waiting", "ended just now"])
def test_code_that_cannot_start_twice_has_failed(state: dict[str, Any]) -> None:
    again = restarted(pod(state, last=NO_MODULE))
    judged = judge(deployment(), replica_sets=[OLD, replica_set(2)], pods=[again])
    assert (judged.progress, judged.reason) == (FAILED, "HandlerImportFailed")


@pytest.mark.parametrize(
    "other",
    [
        pod(BACK_OFF, last=NO_MODULE),
        restarted(pod(RUNNING, last=NO_MODULE)),
        restarted(pod(BACK_OFF, last=words("FunctionCrashed", "no database"))),
        restarted(pod(BACK_OFF, last=ended("no database"))),
        restarted(pod(BACK_OFF, last=NO_MODULE, deletionTimestamp="2026-01-01T12:00:00Z")),
        restarted(pod(BACK_OFF, last=NO_MODULE, revision=1)),
    ],
    ids=["once", "starting again", "a crash", "a crash without words", "deleted", "old"],
)
def test_what_may_yet_come_up_has_its_time(other: dict[str, Any]) -> None:
    judged = judge(deployment(), replica_sets=[OLD, replica_set(2)], pods=[other])
    assert judged.progress is PROGRESSING


def test_a_cluster_that_makes_no_pod_is_quoted() -> None:
    judged = judge(deployment(QUOTA, SLOW), replica_sets=[OLD, replica_set(2)], pods=[])
    assert (judged.progress, judged.reason) == (FAILED, "FunctionNotStarted")
    assert "forbidden: quota" in judged.message
