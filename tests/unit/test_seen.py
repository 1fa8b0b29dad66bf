"""What is kept of a cluster's objects: enough to judge as the whole ones are judged."""

from collections.abc import Mapping
from typing import Any

import pytest

from sless.adapters.kubernetes.deployment_options import DeploymentOptions
from sless.adapters.kubernetes.read_deployment import read_deployment
from sless.adapters.kubernetes.render_deployment import render_deployment
from sless.adapters.kubernetes.rollout_state import judge
from sless.adapters.kubernetes.seen import (
    read_function,
    read_live_deployment,
    read_pod,
    read_replica_set,
)
from sless.errors import InternalError
from sless.model.deployment import Deployment, Progress, Revision
from sless.model.function import Ask, FunctionRef
from tests.unit.test_rollout_state import (
    BACK_OFF,
    CAUSES,
    NO_MODULE,
    SLOW,
    STATES,
    pod,
    restarted,
)

REVISION = Revision(image="r/x@sha256:1", build="1" * 12, runtime="python3.11", retry=4)
DEPLOYMENT = Deployment(
    namespace="team",
    name="hello",
    ask=Ask("u", 5),
    revision=REVISION,
    uid="d",
    resource_version="9",
)
HELLO = FunctionRef("team", "hello")
NOISE = {"managedFields": [{"manager": "kubelet"}], "resourceVersion": "9"}


def live_deployment(judged: Mapping[str, Any]) -> dict[str, Any]:
    """As it was rendered, and as it fares in a case of the judgement's own tests."""
    made = render_deployment(DEPLOYMENT, DeploymentOptions())
    metadata = {**made["metadata"], **judged["metadata"], **NOISE, "uid": "d"}
    metadata["annotations"] = {
        **made["metadata"]["annotations"],
        **judged["metadata"]["annotations"],
    }
    spec = {**made["spec"], **judged["spec"]}
    return {"metadata": metadata, "spec": spec, "status": judged["status"]}


def part(thing: Mapping[str, Any], name: str) -> dict[str, Any]:
    metadata = thing["metadata"]
    labels = {"sless.io/function": "hello", "sless.io/instance": "i", **metadata["labels"]}
    metadata = {**metadata, **NOISE, "namespace": "team", "name": name, "labels": labels}
    return {**thing, "metadata": metadata}


@pytest.mark.parametrize(
    ("live", "replica_sets"),
    [(live, sets) for live, sets, _ in STATES.values()],
)
def test_it_is_judged_as_the_whole_objects_are(
    live: dict[str, Any], replica_sets: list[dict[str, Any]]
) -> None:
    whole = live_deployment(live)
    sets = [part(each, "set") for each in replica_sets]
    seen = read_live_deployment(whole)
    assert seen is not None
    assert seen.deployment == read_deployment(whole)
    kept = [read_replica_set(each).live for each in sets]
    assert judge(seen.live, replica_sets=kept, pods=[]) == judge(whole, replica_sets=sets, pods=[])


def test_a_pods_trouble_is_kept() -> None:
    live, sets, _ = STATES["the old one serves, the new one does not yet"]
    whole = live_deployment({**live, "status": {**live["status"], "conditions": [SLOW]}})
    seen = read_live_deployment(whole)
    assert seen is not None
    for bad, reason, _said in CAUSES.values():
        judged = judge(
            seen.live,
            replica_sets=[read_replica_set(part(each, "set")).live for each in sets],
            pods=[read_pod(part(bad, "pod")).live],
        )
        assert judged.reason == reason


def test_a_pods_starts_are_counted() -> None:
    live, sets, _ = STATES["the old one serves, the new one does not yet"]
    seen = read_live_deployment(live_deployment(live))
    assert seen is not None
    again = restarted(pod(BACK_OFF, last=NO_MODULE))
    judged = judge(
        seen.live,
        replica_sets=[read_replica_set(part(each, "set")).live for each in sets],
        pods=[read_pod(part(again, "pod")).live],
    )
    assert judged.progress is Progress.FAILED


@pytest.mark.parametrize(
    ("status", "addresses"),
    [
        ({"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]}, 2),
        ({"phase": "Failed", "podIPs": [{"ip": "10.0.0.1"}]}, 0),
        ({"phase": "Pending"}, 0),
    ],
    ids=["runs", "ended: another may have its address", "has none yet"],
)
def test_a_pod_tells_its_revision_and_addresses(status: dict[str, Any], addresses: int) -> None:
    seen = read_pod(part({"metadata": {"labels": {}}, "status": status}, "pod"))
    assert (seen.function, seen.instance) == (HELLO, "i")
    assert len(seen.addresses) == addresses


def test_what_does_not_matter_makes_no_difference() -> None:
    metadata: dict[str, Any] = {"labels": {}}
    probed = {"type": "Ready", "lastProbeTime": "2026-01-01T00:00:00Z"}
    thing = part({"metadata": metadata, "status": {"phase": "Running"}}, "pod")
    other = part(
        {"metadata": metadata, "status": {"phase": "Running", "conditions": [probed]}}, "pod"
    )
    assert read_pod(thing) == read_pod(other)


def test_a_deployment_of_another_name_is_not_the_functions() -> None:
    whole = live_deployment(next(iter(STATES.values()))[0])
    whole["metadata"]["name"] = "mine"
    assert read_live_deployment(whole) is None


def test_a_replica_set_by_hand_is_refused() -> None:
    with pytest.raises(KeyError):
        read_replica_set(part({"metadata": {"labels": {}}}, "set"))


def test_a_function_is_kept_without_its_owners() -> None:
    spec = {"s3Key": "key", "runtime": "python3.11"}
    metadata = {"namespace": "team", "name": "hello", "uid": "u", "generation": 1, **NOISE}
    stored = read_function({"kind": "Function", "metadata": metadata, "spec": spec})
    assert stored is not None
    assert stored.function.ref == HELLO
    assert stored.manifest["metadata"]["managedFields"] == []
    assert stored.manifest["status"] == {}
    with pytest.raises(InternalError, match=r"spec\.s3Key"):
        read_function({"metadata": metadata, "spec": {}})


def test_a_function_that_is_being_deleted_is_as_good_as_gone() -> None:
    leaving = {"deletionTimestamp": "2026-01-01T12:00:00Z", "finalizers": ["example.com/held"]}
    metadata = {"namespace": "team", "name": "hello", "uid": "u", "generation": 2, **leaving}
    spec = {"s3Key": "key", "runtime": "python3.11"}
    assert read_function({"kind": "Function", "metadata": metadata, "spec": spec}) is None
