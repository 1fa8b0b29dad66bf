"""A function's Deployment as an object, and back."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sless.adapters.kubernetes.admitted_note import keep_admitted, render_admitted
from sless.adapters.kubernetes.deployment_notes import ADMITTED
from sless.adapters.kubernetes.deployment_options import DeploymentOptions
from sless.adapters.kubernetes.read_deployment import read_deployment
from sless.adapters.kubernetes.render_deployment import (
    render_change,
    render_deployment,
    render_service,
)
from sless.errors import InternalError
from sless.manifests import merge_patch
from sless.model.deployment import Deployment, FailedNote, Revision
from sless.model.function import Ask, EnvVar

OPTIONS = DeploymentOptions(progress_seconds=30, drain_seconds=7, pull_secret="pull")
REVISION = Revision(
    image=f"registry/team/hello@sha256:{'1' * 64}",
    build="0" * 12,
    runtime="python3.11",
    handler="main:app",
    env=(EnvVar("B", "1"), EnvVar("A", "$(B) $$")),
)
DEPLOYMENT = Deployment(
    namespace="team", name="hello", ask=Ask("u-1", 3), revision=REVISION, resource_version="5"
)

names = st.from_regex(r"[A-Za-z_][\w.-]{0,20}", fullmatch=True).filter(
    lambda name: name != "PORT" and not name.startswith("SLESS_")
)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
generations = st.integers(1, 10**9)
asks = st.builds(Ask, uid=st.uuids().map(str), generation=generations)
revisions = st.builds(
    Revision,
    image=st.from_regex(r"[a-z/]{1,20}@sha256:[0-9a-f]{64}", fullmatch=True),
    build=st.from_regex(r"[0-9a-f]{12}", fullmatch=True),
    runtime=st.sampled_from(["python3.11", "node20"]),
    handler=st.none() | texts,
    command=st.lists(texts, max_size=4).map(tuple),
    env=st.lists(st.builds(EnvVar, name=names, value=texts), max_size=4).map(tuple),
    retry=st.integers(0, 10**9),
)
deployments = st.builds(
    Deployment,
    namespace=st.just("team"),
    name=st.from_regex(r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?", fullmatch=True),
    ask=asks,
    revision=revisions,
    good=st.none() | revisions,
    good_generation=st.just(0) | generations,
    failed=st.none()
    | st.builds(
        FailedNote,
        ask=asks,
        hash=st.from_regex(r"[0-9a-f]{12}", fullmatch=True),
        reason=st.sampled_from(["FunctionCrashed", "ImageMissing"]),
        message=texts,
    ),
)


@settings(max_examples=50, deadline=None)
@given(deployments)
def test_what_was_rendered_is_read(deployment: Deployment) -> None:
    read = read_deployment(render_deployment(deployment, OPTIONS))
    assert read == deployment
    assert read.revision.hash == deployment.revision.hash


@settings(max_examples=50, deadline=None)
@given(deployments, deployments)
def test_a_change_makes_what_would_be_rendered(before: Deployment, after: Deployment) -> None:
    after = replace(after, name=before.name, ask=replace(after.ask, uid=before.ask.uid))
    changed = merge_patch(render_deployment(before, OPTIONS), render_change(after, OPTIONS))
    del changed["metadata"]["resourceVersion"]
    assert changed == render_deployment(after, OPTIONS)


def _add_variable(container: dict[str, Any]) -> None:
    container["env"].append({"name": "C", "valueFrom": {"secretKeyRef": {"key": "c"}}})


def _change_image(container: dict[str, Any]) -> None:
    container["image"] = "busybox"


def _change_command(container: dict[str, Any]) -> None:
    container["env"].append({"name": "SLESS_COMMAND", "value": "./run it"})


@pytest.mark.parametrize("act", [_add_variable, _change_image, _change_command])
def test_a_change_by_hand_is_another_revision_until_taken_back(
    act: Callable[[dict[str, Any]], None],
) -> None:
    live = render_deployment(DEPLOYMENT, OPTIONS)
    act(live["spec"]["template"]["spec"]["containers"][0])
    assert read_deployment(live).revision.hash != REVISION.hash
    changed = merge_patch(live, render_change(DEPLOYMENT, OPTIONS))
    assert read_deployment(changed) == DEPLOYMENT


def _admitted(live: dict[str, Any]) -> dict[str, Any]:
    """With the note that follows a write which a policy changed."""
    became = read_deployment(live).revision
    notes = render_admitted(REVISION, became=became)
    return dict(merge_patch(live, {"metadata": {"annotations": notes}}))


@pytest.mark.parametrize("act", [_add_variable, _change_image])
def test_what_a_policy_made_of_it_is_the_same_revision(
    act: Callable[[dict[str, Any]], None],
) -> None:
    live = render_deployment(DEPLOYMENT, OPTIONS)
    container = live["spec"]["template"]["spec"]["containers"][0]
    act(container)
    became, admitted = read_deployment(live).revision, _admitted(live)
    assert read_deployment(admitted).revision == REVISION
    # A hand's change on top of that is one.
    env = admitted["spec"]["template"]["spec"]["containers"][0]["env"]
    env.append({"name": "HAND", "value": "1"})
    assert read_deployment(admitted).revision not in (REVISION, became)


def test_a_note_of_a_policy_stays_with_its_revision() -> None:
    live = render_deployment(DEPLOYMENT, OPTIONS)
    _change_image(live["spec"]["template"]["spec"]["containers"][0])
    notes = _admitted(live)["metadata"]["annotations"]
    assert keep_admitted(notes, REVISION) == {ADMITTED: notes[ADMITTED]}
    other = replace(DEPLOYMENT, revision=replace(REVISION, handler="main:other"))
    assert keep_admitted(notes, other.revision) == {}
    change = render_change(other, OPTIONS)["metadata"]["annotations"]
    assert ADMITTED not in merge_patch(notes, change)
    assert keep_admitted({}, REVISION) == {}


def test_a_pause_by_hand_ends_with_the_next_write() -> None:
    live = render_deployment(DEPLOYMENT, OPTIONS)
    live["spec"]["paused"] = True
    assert "paused" not in merge_patch(live, render_change(DEPLOYMENT, OPTIONS))["spec"]


def test_a_retry_by_hand_is_taken_back() -> None:
    live = render_deployment(DEPLOYMENT, OPTIONS)
    live["spec"]["template"]["metadata"]["annotations"]["sless.io/retry"] = "rubbish"
    assert read_deployment(live).revision.instance != REVISION.instance
    changed = merge_patch(live, render_change(DEPLOYMENT, OPTIONS))
    assert read_deployment(changed) == DEPLOYMENT


@pytest.mark.parametrize("lost", ["sless.io/uid", "sless.io/generation"])
def test_another_ones_deployment_is_named(lost: str) -> None:
    live = copy.deepcopy(render_deployment(DEPLOYMENT, OPTIONS))
    del live["metadata"]["annotations"][lost]
    with pytest.raises(InternalError, match=r"Deployment team/fn-hello .*delete it"):
        read_deployment(live)


@pytest.mark.parametrize("note", ["sless.io/good", "sless.io/admitted"])
def test_a_note_nested_deeper_than_can_be_read_is_none_of_ours(note: str) -> None:
    live = copy.deepcopy(render_deployment(DEPLOYMENT, OPTIONS))
    live["metadata"]["annotations"][note] = "[" * 100_000
    with pytest.raises(InternalError, match=r"not as sless writes"):
        read_deployment(live)


def test_a_command_nested_deeper_than_can_be_read_is_another_revision() -> None:
    revision = replace(REVISION, handler=None, command=("./run",))
    live = render_deployment(replace(DEPLOYMENT, revision=revision), OPTIONS)
    env = live["spec"]["template"]["spec"]["containers"][0]["env"]
    next(each for each in env if each["name"] == "SLESS_COMMAND")["value"] = "[" * 100_000
    assert read_deployment(live).revision.hash != revision.hash


def container_of(deployment: Deployment) -> dict[str, Any]:
    pod = render_deployment(deployment, OPTIONS)["spec"]["template"]["spec"]
    return dict(pod["containers"][0])


def test_our_own_server_is_asked_by_its_paths() -> None:
    container = container_of(DEPLOYMENT)
    assert container["readinessProbe"]["httpGet"]["path"] == "/_/ready"
    assert container["livenessProbe"]["httpGet"]["path"] == "/_/health"
    assert container["livenessProbe"]["initialDelaySeconds"] == OPTIONS.progress_seconds


@pytest.mark.parametrize("command", [(), ("./run",)], ids=["a Procfile's perhaps", "a command's"])
def test_any_other_server_has_but_to_listen(command: tuple[str, ...]) -> None:
    container = container_of(
        replace(DEPLOYMENT, revision=replace(REVISION, handler=None, command=command))
    )
    for probe in (container["readinessProbe"], container["livenessProbe"]):
        assert probe["tcpSocket"] == {"port": 8080}
        assert "httpGet" not in probe


def test_variables_keep_their_order_after_ours() -> None:
    command = ("./run", "$(B)", "a b")
    revision = replace(REVISION, handler=None, command=command)
    env = container_of(replace(DEPLOYMENT, revision=revision))["env"]
    assert [each["name"] for each in env] == [
        *("PORT", "SLESS_TERMINATION_LOG", "SLESS_DRAIN_SECONDS", "SLESS_COMMAND"),
        *("B", "A"),
    ]
    # Kubernetes would fill in $(B) of a command that means it literally; A means it so.
    assert env[3]["value"] == '["./run", "$$(B)", "a b"]'
    assert env[5]["value"] == "$(B) $$"


@pytest.mark.parametrize("retry", [0, 7])
def test_pods_tell_their_revision(retry: int) -> None:
    revision = replace(REVISION, retry=retry)
    template = render_deployment(replace(DEPLOYMENT, revision=revision), OPTIONS)["spec"][
        "template"
    ]
    assert template["metadata"]["labels"]["sless.io/instance"] == revision.instance


def test_pods_are_restricted() -> None:
    pod = render_deployment(DEPLOYMENT, OPTIONS)["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False
    assert pod["imagePullSecrets"] == [{"name": "pull"}]
    own = pod["containers"][0]["securityContext"]
    assert own == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


def test_a_pod_that_ends_has_time_to_drain() -> None:
    pod = render_deployment(DEPLOYMENT, OPTIONS)["spec"]["template"]["spec"]
    asleep = pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pod["terminationGracePeriodSeconds"] > asleep + OPTIONS.drain_seconds


def test_what_serves_goes_on_until_the_new_one_does() -> None:
    spec = render_deployment(DEPLOYMENT, OPTIONS)["spec"]
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    assert spec["progressDeadlineSeconds"] == OPTIONS.progress_seconds
    assert "replicas" not in spec


def test_the_service_finds_the_pods_and_goes_with_the_function() -> None:
    whole, service = render_deployment(DEPLOYMENT, OPTIONS), render_service(DEPLOYMENT)
    assert service["metadata"]["name"] == whole["metadata"]["name"] == "fn-hello"
    labels = whole["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    assert service["spec"]["ports"][0]["targetPort"] == 8080
    # What the gateway reads from the EndpointSlices, which get the Service's labels.
    told = service["metadata"]["labels"]
    assert (told["sless.io/function"], told["sless.io/uid"]) == ("hello", "u-1")
    for owned in (whole, service):
        assert [each["uid"] for each in owned["metadata"]["ownerReferences"]] == ["u-1"]
