"""Standings are put together anew only where something changed, and rubbish hides only itself."""

from dataclasses import replace
from typing import Any

import pytest

from sless.adapters.kubernetes.deployment_options import DeploymentOptions
from sless.adapters.kubernetes.render_deployment import render_deployment, render_service
from sless.adapters.kubernetes.standings import Standings
from sless.model.deployment import Deployment, Progress, Revision
from sless.model.function import Ask, FunctionRef
from sless.model.routed import Routed
from sless.ports.scene import Standing

REVISION = Revision(image="r/x@sha256:1", build="1" * 12, runtime="python3.11")
HELLO = FunctionRef("team", "hello")


def metadata(name: str, version: int, **more: object) -> dict[str, Any]:
    return {"namespace": "team", "name": name, "resourceVersion": str(version), **more}


def function(name: str, version: int, **spec: object) -> dict[str, Any]:
    return {
        "kind": "Function",
        "metadata": metadata(name, version, uid=f"uid-{name}", generation=1),
        "spec": {"s3Key": "key", "runtime": "python3.11", **spec},
    }


def deployment(version: int) -> dict[str, Any]:
    ask = Ask("uid-hello", 1)
    made = render_deployment(Deployment("team", "hello", ask, REVISION), DeploymentOptions())
    revision = {"deployment.kubernetes.io/revision": "1"}
    own = {
        **made["metadata"],
        **metadata("fn-hello", version, uid="d", generation=1),
        "annotations": {**made["metadata"]["annotations"], **revision},
    }
    return {"metadata": own, "spec": made["spec"], "status": {"observedGeneration": 1}}


def service(version: int) -> dict[str, Any]:
    made = render_service(Deployment("team", "hello", Ask("uid-hello", 1), REVISION))
    return {**made, "metadata": {**made["metadata"], **metadata("fn-hello", version)}}


def replica_set(version: int, *, available: int, **labels: str) -> dict[str, Any]:
    own = {"sless.io/function": "hello", "pod-template-hash": "h", **labels}
    notes = {"deployment.kubernetes.io/revision": "1"}
    owners = [{"uid": "d"}]
    kept = metadata("set", version, labels=own, annotations=notes, ownerReferences=owners)
    return {"metadata": kept, "status": {"availableReplicas": available}}


def pod(version: int) -> dict[str, Any]:
    labels = {"sless.io/function": "hello", "sless.io/instance": REVISION.instance}
    status = {"phase": "Running", "podIPs": [{"ip": "10.1.0.1"}]}
    return {"metadata": metadata("pod", version, labels=labels), "status": status}


class Rig:
    def __init__(self) -> None:
        self.tables: list[list[str]] = []
        self.changes = 0
        self.standings = Standings(lambda _: self.tables, changed=self._note)

    def _note(self) -> None:
        self.changes += 1

    def find(self, name: str) -> Standing | None:
        found = (each for each in self.standings.look() if each.stored.function.name == name)
        return next(found, None)

    def get(self, name: str = "hello") -> Standing:
        found = self.find(name)
        assert found is not None
        return found


@pytest.fixture
def rig() -> Rig:
    rig = Rig()
    rig.standings.functions.put(function("hello", 1))
    rig.standings.functions.put(function("other", 2))
    return rig


def test_the_others_stay_the_same(rig: Rig) -> None:
    hello, other = rig.get(), rig.get("other")
    rig.standings.functions.put(function("hello", 3, handler="main:app"))
    assert rig.get() is not hello
    assert rig.get("other") is other


def test_what_makes_no_difference_changes_nothing(rig: Rig) -> None:
    rig.standings.deployments.put(deployment(3))
    rig.standings.pods.put(pod(4))
    before, changes = rig.get(), rig.changes
    rig.standings.pods.put(pod(5))
    assert rig.changes == changes
    rig.standings.mark(HELLO)
    assert rig.get() is before


def test_parts_make_the_judgement(rig: Rig) -> None:
    rig.standings.deployments.put(deployment(3))
    found = rig.get().deployment
    assert found is not None
    assert found.availability.progress is Progress.PROGRESSING
    rig.standings.replica_sets.put(replica_set(4, available=1))
    found = rig.get().deployment
    assert found is not None
    assert found.availability.progress is Progress.AVAILABLE


def test_a_deployment_without_its_owner_is_not_as_it_should_be(rig: Rig) -> None:
    made = deployment(3)
    rig.standings.deployments.put(made)
    rig.standings.services.put(service(4))
    whole = rig.get().deployment
    assert whole is not None
    assert whole.exposed
    lost = {**made["metadata"], "resourceVersion": "5", "ownerReferences": []}
    rig.standings.deployments.put({**made, "metadata": lost})
    assert rig.get().deployment == replace(whole, resource_version="5", exposed=False)


def test_a_gateways_answer_is_a_change(rig: Rig) -> None:
    rig.standings.deployments.put(deployment(3))
    rig.standings.pods.put(pod(4))
    assert rig.get().routed is None
    rig.tables = [["10.1.0.1:8080"]]
    rig.standings.mark(HELLO)
    assert rig.get().routed == Routed("team", "hello", "uid-hello", 1, REVISION.instance)


def test_a_function_goes(rig: Rig) -> None:
    assert rig.find("hello") is not None
    rig.standings.functions.drop(function("hello", 3))
    assert rig.find("hello") is None
    assert rig.find("other") is not None


class _Odd:
    def __bool__(self) -> bool:
        raise RecursionError


def test_rubbish_hides_only_itself(rig: Rig) -> None:
    rubbish = function("rubbish", 3)
    del rubbish["spec"]["s3Key"]
    rig.standings.functions.put(rubbish)
    rig.standings.replica_sets.put(replica_set(4, available=1) | {"status": "rubbish"})
    rig.standings.deployments.put(deployment(5) | {"spec": {}})
    rig.standings.pods.put(pod(6) | {"status": {"podIPs": _Odd()}})
    assert rig.find("rubbish") is None
    assert rig.get().deployment is None
    assert rig.find("other") is not None
