"""Events as a cluster has them, and the warnings they make."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sless.adapters.kubernetes.event_names import is_of_build, is_of_function
from sless.adapters.kubernetes.event_warnings import Told, find_told, find_warnings
from sless.adapters.kubernetes.event_words import find_words
from sless.model.function import FunctionRef
from sless.model.warning import HomeWarning
from sless.naming import NAME_MAX, job_name

A = FunctionRef("team", "a")
BUILD = "0123456789ab"
NONCE = "69a1b2c3d4e5"
POD = "fn-a-5d4c8f7b9-x2x4z"
NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)


def event(
    reason: str = "BackOff",
    message: str = "It went wrong.",
    *,
    about: tuple[str, str] = ("Pod", POD),
    seen: str = "2030-01-01T11:59:00Z",
    **more: Any,
) -> dict[str, Any]:
    kind, name = about
    return {
        "metadata": {"name": f"{name}.17", "creationTimestamp": "2030-01-01T11:00:00Z"},
        "type": "Warning",
        "involvedObject": {"kind": kind, "namespace": "team", "name": name},
        "reason": reason,
        "message": message,
        "lastTimestamp": seen,
        **more,
    }


def told(*events: dict[str, Any]) -> list[Told]:
    return [each for each in map(find_told, events) if each is not None]


def find(*own: dict[str, Any], builds: tuple[dict[str, Any], ...] = ()) -> list[HomeWarning]:
    return list(find_warnings(A, build=BUILD, own=told(*own), builds=told(*builds), now=NOW))


# whose it is


@pytest.mark.parametrize(
    ("kind", "called", "whose"),
    [
        ("Deployment", "fn-a", "a"),
        ("ReplicaSet", "fn-a-5d4c8f7b9", "a"),
        ("Pod", "fn-a-5d4c8f7b9-x2x4z", "a"),
        ("Deployment", "fn-a-b", "a-b"),
        ("ReplicaSet", "fn-a-b-5d4c8f7b9", "a-b"),
        ("Pod", "fn-a-b-5d4c8f7b9-x2x4z", "a-b"),
        # Names that look like hashes.
        ("Deployment", "fn-a-5d4c8f7b9", "a-5d4c8f7b9"),
        ("ReplicaSet", "fn-a-5d4c8f7b9-6c5d4f8b9", "a-5d4c8f7b9"),
        ("Pod", "fn-a-5d4c8f7b9-6c5d4f8b9-x2x4z", "a-5d4c8f7b9"),
        ("Pod", "fn-a-5d4c8f7b9-x2x4z-6c5d4f8b9-x2x4z", "a-5d4c8f7b9-x2x4z"),
        # What is nobody's.
        ("Pod", "fn-a", ""),
        ("Pod", "fn-a-0", ""),
        ("Pod", "fn-a-web-0", ""),
        ("Pod", "fn-a-5d4c8f7b9", ""),
        ("Pod", "xfn-a-5d4c8f7b9-x2x4z", ""),
        ("Service", "fn-a", ""),
        ("Node", "fn-a", ""),
        ("", "", ""),
    ],
)
def test_an_event_is_of_one_function_at_most(kind: str, called: str, whose: str) -> None:
    names = ["a", "a-b", "a-5d4c8f7b9", "a-5d4c8f7b9-x2x4z", "b"]
    assert [name for name in names if is_of_function(kind, called, name=name)] == [
        name for name in names if name == whose
    ]


def pod_name(job: str) -> str:
    """As the API server makes it up."""
    return f"{job}-"[:58] + "x2x4z"


@pytest.mark.parametrize("length", range(1, NAME_MAX + 1))
def test_a_build_has_its_jobs_and_their_pods(length: int) -> None:
    name = "n" * length
    job = job_name(name, BUILD, NONCE)
    assert len(pod_name(job)) <= 63
    assert is_of_build("Job", job, name=name, build=BUILD)
    assert is_of_build("Pod", pod_name(job), name=name, build=BUILD)
    assert not is_of_build("Job", pod_name(job), name=name, build=BUILD)
    assert not is_of_build("Pod", job, name=name, build=BUILD)


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("a", "ba9876543210"),
        ("a-b", BUILD),
        # A function that is called by another's build, as its Jobs then are in part.
        (f"hello-{BUILD}", "ba9876543210"),
        (f"hello-{BUILD}-69a1b2c3d4e5", "ba9876543210"),
    ],
)
def test_another_build_is_anothers(name: str, build: str) -> None:
    job = job_name(name, build, NONCE)
    for kind, called in (("Job", job), ("Pod", pod_name(job))):
        assert is_of_build(kind, called, name=name, build=build)
        assert not is_of_build(kind, called, name="hello", build=BUILD)


# what it says


@pytest.mark.parametrize(
    ("reason", "message", "words"),
    [
        (
            "FailedScheduling",
            "0/1 nodes are available: 1 Insufficient memory.",
            "No node takes the pod: 0/1 nodes are available: 1 Insufficient memory.",
        ),
        (
            "BackOff",
            f"Back-off restarting failed container function in pod {POD}_team(1-2-3)",
            "The container ends again and again, and is started again ever later.",
        ),
        (
            "BackOff",
            'Back-off pulling image "r/x": gone',
            'The image cannot be pulled, and is tried again ever later: "r/x": gone',
        ),
        (
            "Failed",
            'Failed to pull image "r/x": code = NotFound desc = {no}',
            'The image cannot be pulled: "r/x": code = NotFound desc = {no}',
        ),
        ("Failed", "Error: ErrImagePull", ""),
        ("Failed", "Error: ImagePullBackOff", ""),
        (
            "Failed",
            'Error: secret "s" not found',
            'The container cannot start: secret "s" not found',
        ),
        (
            "Unhealthy",
            "Readiness probe failed: HTTP probe failed with statuscode: 503",
            "The function is not ready: HTTP probe failed with statuscode: 503",
        ),
        (
            "Unhealthy",
            'Startup probe failed: Get "http://10.1.2.3:8080/_/ready": refused',
            'The function has not started: Get "http://10.1.2.3:8080/_/ready": refused',
        ),
        (
            "Unhealthy",
            "Liveness probe errored and resulted in unknown state: gone",
            "The function does not answer: gone",
        ),
        (
            "FailedMount",
            'MountVolume.SetUp failed for volume "v": no c',
            'A volume cannot be mounted: MountVolume.SetUp failed for volume "v": no c',
        ),
        (
            "FailedCreate",
            'Error creating: pods "fn-a-5d-x2x4z" is forbidden: exceeded quota: q, used: pods=1',
            "The cluster makes no pod: the pod is forbidden: exceeded quota: q, used: pods=1",
        ),
        (
            "ReplicaSetCreateError",
            'Failed to create new replica set "fn-a-5d": no',
            'The cluster makes no ReplicaSet: Failed to create new replica set "fn-a-5d": no',
        ),
        (
            "Evicted",
            "The node was low on resource: memory.",
            "The node ended the pod: The node was low on resource: memory.",
        ),
        ("NodeNotReady", "Node is not ready", "The pod's node does not answer: Node is not ready"),
        (
            "OOMKilling",
            "Memory cgroup out of memory",
            "A process needed more memory than its limit: Memory cgroup out of memory",
        ),
        (
            "FailedCreate",
            "(combined from similar events): Error creating: no",
            "The cluster makes no pod: no",
        ),
        ("DeadlineExceeded", "Job was active", "The build took too long: Job was active"),
        ("BackoffLimitExceeded", "Job has", "The build's pod failed: Job has"),
        ("FailedScheduling", "", "No node takes the pod: nobody says why"),
        ("Surprise", "Something else.", "Something else."),
        ("Unhealthy", "Some other probe.", "Some other probe."),
        ("Surprise", "", "Kubernetes says Surprise, and no more."),
    ],
)
def test_plain_words(reason: str, message: str, words: str) -> None:
    assert find_words(reason, message) == words


# what comes of it


def test_a_warning_of_a_pod() -> None:
    assert find(event(count=4)) == [
        HomeWarning(f"pod {POD}", "BackOff", "It went wrong.", 4, "2030-01-01T11:59:00Z")
    ]


def test_only_warnings_warn() -> None:
    assert find(event(type="Normal")) == []
    assert find(event(message="Error: ErrImagePull", reason="Failed")) == []
    assert find({"metadata": {}, "type": "Warning"}) == []


def test_the_newer_kind_of_events_has_a_series() -> None:
    newer = event(seen="", eventTime="2030-01-01T11:30:00.123456Z")
    assert [(each.count, each.last_seen) for each in find(newer)] == [(1, "2030-01-01T11:30:00Z")]
    series = {"count": 7, "lastObservedTime": "2030-01-01T11:50:00.9Z"}
    (found,) = find(newer | {"series": series})
    assert (found.count, found.last_seen) == (7, "2030-01-01T11:50:00Z")


def test_the_same_of_the_same_is_one() -> None:
    first = event("FailedCreate", 'Error creating: pods "fn-a-x" is forbidden: no', count=2)
    second = event(
        "FailedCreate",
        'Error creating: pods "fn-a-y" is forbidden: no',
        seen="2030-01-01T11:30:00Z",
    )
    (found,) = find(second, first)
    assert (found.count, found.last_seen) == (3, "2030-01-01T11:59:00Z")
    assert len(find(first, event(about=("Pod", "fn-a-5d4c8f7b9-zzzzz")))) == 2


@pytest.mark.parametrize(
    ("message", "since", "told"),
    [
        ("Readiness probe failed: connection refused", "2030-01-01T11:58:51Z", 0),
        ("Readiness probe failed: connection refused", "2030-01-01T11:58:50Z", 1),
        ("Readiness probe failed: statuscode: 500", "2030-01-01T11:59:00Z", 1),
    ],
)
def test_a_start_takes_its_time(message: str, since: str, told: int) -> None:
    assert len(find(event("Unhealthy", message, firstTimestamp=since))) == told
    assert len(find(event("Failed", message, firstTimestamp=since))) == 1


def test_what_is_older_than_an_hour_is_over() -> None:
    assert find(event(seen="2030-01-01T10:59:59Z")) == []
    assert len(find(event(seen="2030-01-01T11:00:00Z"))) == 1


def test_a_build_is_warned_of_where_it_runs_alone() -> None:
    job = job_name("a", BUILD, NONCE)
    ours = event(about=("Job", job))
    assert [each.about for each in find(builds=(ours,))] == [f"job {job}"]
    assert find(ours) == []
    assert find(builds=(event(),)) == []
    older = event(about=("Job", job_name("a", "ba9876543210", NONCE)))
    assert find(builds=(older,)) == []


def test_both_are_told_in_one_order() -> None:
    job = event(about=("Job", job_name("a", BUILD, NONCE)), seen="2030-01-01T11:58:30Z")
    found = find(event(seen="2030-01-01T11:58:00Z"), event("Unhealthy"), builds=(job,))
    assert [each.reason for each in found] == ["Unhealthy", "BackOff", "BackOff"]
    assert [each.about.partition(" ")[0] for each in found] == ["pod", "job", "pod"]
