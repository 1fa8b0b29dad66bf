"""How an attempt fares: a table of pods and Jobs as the API server shows them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sless.adapters.kubernetes.job_status import judge_absent, judge_ended, judge_under_way
from sless.adapters.kubernetes.pod_reading import find_failed, has_started, is_over
from sless.adapters.kubernetes.slow_start import Graces, may_have_obstacle
from sless.model.attempt import AttemptState

CONTAINERS = ("fetch", "build", "push")
"""As without a base image that needs a password."""
NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
GRACES = Graces(unschedulable=600, other=120)
DIGEST = f"sha256:{'ab' * 32}"

PENDING, RUNNING = AttemptState.PENDING, AttemptState.RUNNING
FAILED, SUCCEEDED = AttemptState.FAILED, AttemptState.SUCCEEDED


def ago(seconds: float) -> str:
    return (NOW - timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def ended(code: int = 0, reason: str = "", message: str = "", seconds: float = 5) -> dict[str, Any]:
    return {
        "terminated": {
            "exitCode": code,
            "reason": reason or ("Completed" if code == 0 else "Error"),
            "message": message,
            "startedAt": ago(seconds + 1),
            "finishedAt": ago(seconds),
        }
    }


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    return {"waiting": {"reason": reason, "message": message}}


DELETED = {"deletionTimestamp": ago(-29), "deletionGracePeriodSeconds": 30}
"""A second ago."""
STARTED = {"running": {"startedAt": ago(5)}}
NEXT = waiting("PodInitializing")


@dataclass
class Pod:
    """A pod by the states of its three containers."""

    states: Sequence[dict[str, Any]] = ()
    phase: str = "Pending"
    seconds: float = 10
    """Since its start."""
    status: dict[str, Any] = field(default_factory=dict)
    deleted: bool = False

    def to_dict(self) -> dict[str, Any]:
        statuses = [
            {"name": name, "state": state}
            for name, state in zip(CONTAINERS, self.states, strict=False)
        ]
        limits = {"resources": {"limits": {"memory": "2Gi"}}}
        return {
            "metadata": {
                "creationTimestamp": ago(self.seconds),
                **(DELETED if self.deleted else {}),
            },
            "spec": {
                "activeDeadlineSeconds": 900,
                "initContainers": [{"name": name, **limits} for name in CONTAINERS[:2]],
                "containers": [{"name": "push", **limits}],
            },
            "status": {
                "phase": self.phase,
                "startTime": ago(self.seconds),
                "initContainerStatuses": statuses[:2],
                "containerStatuses": statuses[2:],
                **self.status,
            },
        }


def warning(reason: str, message: str, seconds: float = 1) -> dict[str, Any]:
    return {
        "type": "Warning",
        "reason": reason,
        "message": message,
        "lastTimestamp": ago(seconds),
        "metadata": {},
    }


# under way


@pytest.mark.parametrize(
    ("pod", "state"),
    [
        (Pod(), PENDING),
        (Pod([waiting("ContainerCreating"), NEXT, NEXT], seconds=900), PENDING),
        (Pod([STARTED, NEXT, NEXT]), RUNNING),
        (Pod([ended(), STARTED, NEXT]), RUNNING),
        (Pod([ended(), ended(), STARTED], phase="Running"), RUNNING),
        # Being deleted: it will be gone soon, and then the Job says why.
        (Pod([waiting("ImagePullBackOff")], deleted=True, seconds=900), PENDING),
    ],
)
def test_a_pod_that_goes_on(pod: Pod, state: AttemptState) -> None:
    status = judge_under_way(pod.to_dict(), [], graces=GRACES, now=NOW)
    assert (status.state, status.reason) == (state, "")


UNSCHEDULED = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "0/3 nodes are available: 3 Insufficient cpu.",
}
MANIFEST = 'Failed to pull image "x": manifest unknown'


def unscheduled(seconds: float) -> Pod:
    conditions = [{**UNSCHEDULED, "lastTransitionTime": ago(seconds)}]
    return Pod(status={"conditions": conditions}, seconds=seconds)


def pulling(seconds: float) -> Pod:
    return Pod([waiting("ImagePullBackOff", "Back-off"), NEXT, NEXT], seconds=seconds)


@pytest.mark.parametrize(
    ("make", "events", "grace", "said"),
    [
        (unscheduled, [], 600, "Unschedulable: 0/3 nodes are available: 3 Insufficient cpu."),
        (pulling, [warning("Failed", MANIFEST)], 120, f"{MANIFEST} (container fetch)"),
        (
            pulling,
            [warning("Failed", MANIFEST, 9), warning("Failed", "Error: ImagePullBackOff", 1)],
            120,
            MANIFEST,
        ),
        (pulling, [], 120, "ImagePullBackOff: Back-off"),
        (
            lambda seconds: Pod(
                [ended(seconds=seconds), waiting("ErrImagePull", "no such image"), NEXT],
                seconds=5000,
            ),
            [],
            120,
            "ErrImagePull: no such image (container build)",
        ),
        (
            lambda seconds: Pod([waiting("CreateContainerConfigError", "m")], seconds=seconds),
            [],
            120,
            "CreateContainerConfigError: m",
        ),
        (
            lambda seconds: Pod([waiting("ContainerCreating")], seconds=seconds),
            [warning("FailedMount", 'secret "push-auth" not found'), warning("Odd", "other", 0)],
            120,
            'FailedMount: secret "push-auth" not found',
        ),
    ],
)
def test_a_slow_start_has_a_grace_and_then_the_clusters_own_words(
    make: Any, events: list[dict[str, Any]], grace: float, said: str
) -> None:
    early = judge_under_way(make(grace - 1).to_dict(), events, graces=GRACES, now=NOW)
    late = judge_under_way(make(grace).to_dict(), events, graces=GRACES, now=NOW)
    assert (early.state, early.reason) == (PENDING, "BuildNotStarted")
    assert (late.state, late.reason) == (FAILED, "BuildNotStarted")
    assert said in early.message
    assert said in late.message
    assert f"within {grace} s" in late.message
    assert may_have_obstacle(make(1).to_dict())


def test_a_name_that_can_be_none_fails_at_once() -> None:
    pod = Pod([waiting("InvalidImageName", "couldn't parse image name")], seconds=0)
    status = judge_under_way(pod.to_dict(), [], graces=GRACES, now=NOW)
    assert (status.state, status.reason) == (FAILED, "BuildNotStarted")


def test_a_runtime_without_user_namespaces_is_said_to_be_one() -> None:
    pod = Pod([waiting("ContainerCreating")], seconds=121)
    events = [warning("FailedCreatePodSandBox", "runtime does not support user namespaces")]
    status = judge_under_way(pod.to_dict(), events, graces=GRACES, now=NOW)
    assert (status.state, status.reason) == (FAILED, "UserNamespacesUnsupported")


def test_a_mount_that_failed_and_then_worked_is_forgotten() -> None:
    pod = Pod([STARTED, NEXT, NEXT], seconds=500)
    events = [warning("FailedMount", "late")]
    assert judge_under_way(pod.to_dict(), events, graces=GRACES, now=NOW).state is RUNNING
    assert not may_have_obstacle(pod.to_dict())


# over


def told(reason: str) -> str:
    return json.dumps({"reason": reason, "message": "the fetcher's words"})


DISRUPTED = {
    "conditions": [{"type": "DisruptionTarget", "status": "True", "message": "node is drained"}]
}


@pytest.mark.parametrize(
    ("pod", "log", "reason", "said"),
    [
        (Pod([ended(1, message=told("BuildLost"))]), "", "BuildLost", "the fetcher's words"),
        (
            Pod([ended(1, message=told("UserNamespacesUnsupported"))]),
            "",
            "UserNamespacesUnsupported",
            "the fetcher's words",
        ),
        (Pod([ended(2, message="Traceback")]), "", "StorageUnavailable", "could not be fetched"),
        (Pod([ended(), ended(137, "OOMKilled")]), "x", "OutOfMemory", "more than its 2Gi"),
        (Pod([ended(), ended(), ended(137, "OOMKilled")]), "", "OutOfMemory", "(container push)"),
        (Pod([ended(), ended(1)]), "error building image: odd\n", "BuildFailed", "odd"),
        (Pod([ended(), ended(1, message="from the end")]), "", "BuildFailed", "from the end"),
        (Pod([ended(), ended(143)]), "Terminated\n", "BuildLost", "exit code 143"),
        (Pod([ended(), ended(137)]), "half a line", "BuildLost", "exit code 137"),
        (
            Pod([ended(), ended(137)]),
            "subprocess exited with status 137\nError: building: exit status 137\n",
            "OutOfMemory",
            "2Gi",
        ),
        (Pod([ended(), ended(137, "ContainerStatusUnknown")]), "", "BuildLost", "killed"),
        (
            Pod([ended(), ended(128, "StartError", 'exec: "sh": not found')]),
            "",
            "BuildNotStarted",
            'exec: "sh": not found',
        ),
        (
            Pod([ended(), ended(), ended(1)]),
            'level=fatal msg="unauthorized: authentication required"\n',
            "RegistryDenied",
            "refuses the push",
        ),
        (
            Pod(
                [ended(), ended(137)],
                "Failed",
                status={"reason": "DeadlineExceeded", "message": "Pod was active too long"},
            ),
            "",
            "BuildTimedOut",
            "900 s",
        ),
        (
            Pod([], "Failed", status={"reason": "Evicted", "message": "node was low on resource"}),
            "",
            "BuildLost",
            "low on resource",
        ),
        (
            Pod(
                [],
                "Failed",
                status={
                    "reason": "Evicted",
                    "message": 'Usage of EmptyDir volume "out" exceeds the limit "10Gi". ',
                },
            ),
            "",
            "BuildFailed",
            "SLESS_BUILDER__STORAGE",
        ),
        (Pod([ended(), ended(143)], status=DISRUPTED), "", "BuildLost", "node is drained"),
        (Pod([], "Failed", status={"reason": "NodeLost"}), "", "BuildLost", "NodeLost"),
        (Pod([], "Failed"), "", "BuildLost", "none of its containers"),
        (Pod([ended(), ended(2, seconds=1)], deleted=True), "half", "BuildLost", "was deleted"),
        (Pod([ended(), ended(2, seconds=2)], deleted=True), "before", "BuildFailed", "before"),
        (Pod([STARTED], "Failed", deleted=True), "", "BuildLost", "was deleted"),
        (Pod([ended()] * 3, "Succeeded"), "", "BuildLost", "tells no digest"),
        (
            Pod([ended(), ended(), ended(message="sha256:short")], "Succeeded"),
            "",
            "BuildLost",
            "tells no digest",
        ),
    ],
)
def test_a_pod_that_failed_says_why(pod: Pod, log: str, reason: str, said: str) -> None:
    assert is_over(pod.to_dict())
    status = judge_ended(pod.to_dict(), log)
    assert (status.state, status.reason, status.digest) == (FAILED, reason, "")
    assert said in status.message


def test_a_base_image_that_needs_another_password_says_so() -> None:
    pod = Pod([ended(), NEXT, NEXT], "Failed").to_dict()
    state = ended(1, message='level=fatal msg="unauthorized: authentication required"')
    pod["status"]["initContainerStatuses"].insert(1, {"name": "base", "state": state})
    status = judge_ended(pod, "")
    assert (status.state, status.reason) == (FAILED, "RegistryDenied")


def test_a_pod_that_succeeded_tells_its_digest() -> None:
    pod = Pod([ended(), ended(), ended(message=f"{DIGEST}\n")], "Succeeded").to_dict()
    assert is_over(pod)
    status = judge_ended(pod, "")
    assert (status.state, status.digest) == (SUCCEEDED, DIGEST)


@pytest.mark.parametrize("phase", ["Running", "Succeeded"])
def test_a_neighbour_that_still_ends_is_not_waited_for(phase: str) -> None:
    pod = Pod([ended(), ended(), ended(message=DIGEST)], phase).to_dict()
    pod["status"]["initContainerStatuses"].append({"name": "mirror", "state": STARTED})
    assert is_over(pod)
    assert judge_ended(pod, "").state is SUCCEEDED


def test_a_container_that_never_ran_has_no_log() -> None:
    refused = {"terminated": {"exitCode": 128, "reason": "StartError", "startedAt": None}}
    pod = Pod([ended(), refused, NEXT]).to_dict()
    assert [has_started(pod, name) for name in CONTAINERS] == [True, False, False]
    assert find_failed(pod) == ("build", refused["terminated"])


# gone


OVER = {"reason": "DeadlineExceeded", "message": "Pod was active too long"}
CUT = ended(137)


@pytest.mark.parametrize(
    ("states", "reason"),
    [
        ([], "BuildTimedOut"),
        ([STARTED, NEXT, NEXT], "StorageUnavailable"),
        ([CUT, NEXT, NEXT], "StorageUnavailable"),
        ([ended(seconds=890), STARTED, NEXT], "BuildTimedOut"),
        ([ended(seconds=890), ended(seconds=600), STARTED], "RegistryUnavailable"),
        ([ended(seconds=890), ended(seconds=600), CUT], "RegistryUnavailable"),
        # What installed took most of the time.
        ([ended(seconds=890), ended(seconds=9), STARTED], "BuildTimedOut"),
    ],
)
def test_a_deadline_is_the_fault_of_what_took_its_time(
    states: Sequence[dict[str, Any]], reason: str
) -> None:
    status = judge_ended(Pod(states, "Failed", seconds=900, status=OVER).to_dict(), "")
    assert (status.state, status.reason) == (FAILED, reason)
    assert "within 900 s" in status.message


def job(seconds: float = 10, *conditions: dict[str, Any]) -> dict[str, Any]:
    return {
        "metadata": {"creationTimestamp": ago(seconds)},
        "spec": {"activeDeadlineSeconds": 1800},
        "status": {"conditions": [{"status": "True", **each} for each in conditions]},
    }


POLICY = warning("FailedCreate", "pods is forbidden: violates PodSecurity")
QUOTA = warning("FailedCreate", "pods is forbidden: exceeded quota")


@pytest.mark.parametrize(
    ("found", "events", "state", "reason", "said"),
    [
        (None, [], FAILED, "BuildLost", "Job is gone"),
        (job(119), [], PENDING, "", ""),
        (job(120), [], FAILED, "BuildNotStarted", "no pod yet"),
        (job(119), [POLICY], PENDING, "BuildNotStarted", "violates"),
        (job(120), [POLICY], FAILED, "BuildNotStarted", "violates"),
        (job(599), [QUOTA], PENDING, "BuildNotStarted", "exceeded quota"),
        (job(600), [QUOTA], FAILED, "BuildNotStarted", "exceeded quota"),
        (job(9, {"type": "Complete"}), [], FAILED, "BuildLost", "before its digest"),
        (
            job(9, {"type": "Failed", "reason": "DeadlineExceeded"}),
            [],
            FAILED,
            "BuildTimedOut",
            "1800 s",
        ),
        (
            job(9, {"type": "Failed", "reason": "BackoffLimitExceeded", "message": "no retries"}),
            [],
            FAILED,
            "BuildLost",
            "no retries",
        ),
    ],
)
def test_a_job_without_a_pod(
    found: dict[str, Any] | None,
    events: list[dict[str, Any]],
    state: AttemptState,
    reason: str,
    said: str,
) -> None:
    status = judge_absent(found, events, graces=GRACES, now=NOW)
    assert (status.state, status.reason) == (state, reason)
    assert said in status.message
