"""A Service counts as long as calls find the function's pods by it, whatever else it says."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from sless.adapters.kubernetes.deployment_options import DeploymentOptions
from sless.adapters.kubernetes.render_deployment import render_deployment, render_service
from sless.adapters.kubernetes.service_state import is_exposed, is_foreign, is_marked
from sless.model.deployment import Deployment, Revision
from sless.model.function import Ask

REVISION = Revision(image="r/x@sha256:1", build="1" * 12, runtime="python3.11")
DEPLOYMENT = Deployment("team", "hello", Ask("u", 5), REVISION)

Change = Callable[[dict[str, Any]], object]


def changed(change: Change) -> dict[str, Any]:
    live = copy.deepcopy(render_service(DEPLOYMENT))
    change(live)
    return live


@pytest.mark.parametrize(
    "change",
    [
        lambda _: None,
        lambda live: live["metadata"].pop("labels"),
        lambda live: live["metadata"].pop("ownerReferences"),
        lambda live: live["spec"].update(selector={"by": "hand"}),
    ],
)
def test_what_says_that_it_is_ours(change: Change) -> None:
    assert not is_foreign(changed(change))


def test_what_is_somebody_elses() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "uid": "u"}
    metadata = {"labels": {"app": "shop"}, "ownerReferences": [owner]}
    assert is_foreign({"metadata": metadata, "spec": {}})
    assert is_foreign({"metadata": {}, "spec": {}})


def test_none_is_none() -> None:
    assert not is_exposed(DEPLOYMENT, None)


@pytest.mark.parametrize(
    "change",
    [
        lambda live: live["metadata"].update(labels=None),
        lambda live: live["metadata"]["labels"].pop("sless.io/uid"),
        lambda live: live["metadata"].pop("ownerReferences"),
        lambda live: live["metadata"]["ownerReferences"][0].update(uid="another"),
        lambda live: live["spec"].pop("selector"),
        lambda live: live["spec"]["selector"].update(by="hand"),
        lambda live: live["spec"]["selector"].update({"sless.io/function": "other"}),
        lambda live: live["spec"]["ports"][0].update(name="web"),
        lambda live: live["spec"]["ports"][0].update(targetPort=9),
        lambda live: live["spec"].pop("ports"),
        lambda live: live["spec"].update(type="ExternalName"),
    ],
)
def test_what_hides_the_pods(change: Change) -> None:
    assert not is_exposed(DEPLOYMENT, changed(change))


@pytest.mark.parametrize(
    "change",
    [
        lambda _: None,
        lambda live: live["metadata"]["labels"].update(team="x"),
        lambda live: live["metadata"].update(annotations={"scrape": "yes"}),
        lambda live: live["metadata"]["ownerReferences"].append({"uid": "another"}),
        lambda live: live["spec"].update(type="NodePort", clusterIP="10.0.0.1"),
        lambda live: live["spec"]["ports"][0].update(nodePort=30123),
        lambda live: live["spec"]["ports"].append({"name": "debug", "port": 9}),
    ],
)
def test_what_others_add_is_theirs(change: Change) -> None:
    assert is_exposed(DEPLOYMENT, changed(change))


@pytest.mark.parametrize(
    ("change", "marked"),
    [
        (lambda _: None, True),
        (lambda metadata: metadata["labels"].update(team="x"), True),
        (lambda metadata: metadata["ownerReferences"].append({"uid": "another"}), True),
        (lambda metadata: metadata["labels"].pop("sless.io/function"), False),
        (lambda metadata: metadata["labels"].update({"sless.io/function": "other"}), False),
        (lambda metadata: metadata["ownerReferences"].clear(), False),
        (lambda metadata: metadata["ownerReferences"][0].update(uid="another"), False),
    ],
)
def test_a_deployment_is_known_by_label_and_owner(change: Change, *, marked: bool) -> None:
    live = copy.deepcopy(render_deployment(DEPLOYMENT, DeploymentOptions()))
    change(live["metadata"])
    assert is_marked(DEPLOYMENT, live) is marked
