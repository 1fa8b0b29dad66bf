"""What a hand spoils on a cluster is put right, with no new ask and no new build."""

import json
import uuid
from typing import Any

import pytest

from sless.model.phase import Phase
from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.e2e.mirror import (
    DEPLOYMENT,
    LABEL,
    NAME,
    Json,
    Mirror,
    is_ready,
    until_version,
)
from tests.e2e.running import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

RIGHT_SECONDS = 90
"""Until something is put right: the watcher sees it at once, a pod takes its time."""


@pytest.fixture(scope="module")
def serving(shared_home: ClusterHome, tmp_path_factory: pytest.TempPathFactory) -> Mirror:
    """It serves its first version."""
    made = Mirror(shared_home, tmp_path_factory.mktemp("mirror") / NAME)
    made.deploy("one", "--env", "GREETING=Hi")
    return made


@pytest.fixture
def mirror(serving: Mirror) -> Mirror:
    """Likewise, by an ask of its own: what is spoiled again and again is put right ever later."""
    serving.patch(request=uuid.uuid4().hex)
    serving.until_ended()
    return serving


def until_right(mirror: Mirror) -> None:
    """Until its Deployment is as it was, it answers, and its status says so."""
    right = mirror.status()["image"]
    wait_until(
        lambda: image_of(mirror) == right,
        within=RIGHT_SECONDS,
        what=lambda: f"{image_of(mirror)} is {right}",
    )
    mirror.until_available()
    until_version(mirror, "one", GREETING="Hi")
    wait_until(
        lambda: mirror.status().get("phase") == str(Phase.READY),
        within=RIGHT_SECONDS,
        what=lambda: str(mirror.status()),
    )
    assert len(mirror.jobs()) == 1


def image_of(mirror: Mirror) -> str | None:
    images = [container_of(each)["image"] for each in mirror.deployments()]
    return str(images[0]) if images else None


def container_of(deployment: dict[str, Any]) -> dict[str, Any]:
    container: dict[str, Any] = deployment["spec"]["template"]["spec"]["containers"][0]
    return container


def test_a_deployment_deleted_by_hand_comes_back(mirror: Mirror) -> None:
    before = mirror.deployment()["metadata"]["uid"]
    mirror.home.kubectl("delete", "deployment", DEPLOYMENT)
    until_right(mirror)
    assert mirror.deployment()["metadata"]["uid"] != before


def test_an_image_set_by_hand_is_taken_back(mirror: Mirror) -> None:
    right = image_of(mirror)
    wrong = f"function={right}0".replace("@sha256:", ":no-such-tag-")
    mirror.home.kubectl("set", "image", f"deployment/{DEPLOYMENT}", wrong)
    until_right(mirror)
    assert image_of(mirror) == right


def test_a_variable_set_by_hand_is_taken_back(mirror: Mirror) -> None:
    mirror.home.kubectl("set", "env", f"deployment/{DEPLOYMENT}", "GREETING=hand", "MORE=1")
    names = {"GREETING": "Hi", "MORE": None}
    wait_until(
        lambda: all(variables_of(mirror).get(name) == value for name, value in names.items()),
        within=RIGHT_SECONDS,
        what=lambda: str(variables_of(mirror)),
    )
    until_right(mirror)


@pytest.mark.parametrize(
    "spoil",
    [["delete", "service"], ["patch", '-p={"spec":{"selector":{"by":"hand"}}}', "service"]],
    ids=lambda words: words[0],
)
def test_a_service_that_a_hand_spoiled_is_put_right(mirror: Mirror, spoil: list[str]) -> None:
    generation = mirror.deployment()["metadata"]["generation"]
    mirror.home.kubectl(*spoil, DEPLOYMENT)
    wait_until(lambda: selects(mirror) == [LABEL], within=RIGHT_SECONDS, what="its Service")
    until_right(mirror)
    assert mirror.deployment()["metadata"]["generation"] == generation


def selects(mirror: Mirror) -> list[str]:
    found = mirror.home.kubectl("get", "service", DEPLOYMENT, "--ignore-not-found", "-o=json")
    spec = json.loads(found or "{}").get("spec", {})
    return [f"{key}={value}" for key, value in spec.get("selector", {}).items()]


def variables_of(mirror: Mirror) -> dict[str, str]:
    env = container_of(mirror.deployment())["env"]
    return {each["name"]: each.get("value", "") for each in env}


def test_a_deleted_pod_is_replaced(mirror: Mirror) -> None:
    before = {pod["metadata"]["uid"] for pod in mirror.pods()}
    mirror.home.kubectl("delete", "pods", f"-l={LABEL}", "--wait=false")
    wait_until(
        lambda: any(
            is_ready(pod) and pod["metadata"]["uid"] not in before for pod in mirror.pods()
        ),
        within=RIGHT_SECONDS,
        what=lambda: f"another pod is ready: {mirror.pods()}",
    )
    until_right(mirror)


def test_a_function_restored_without_status_gets_it_back(mirror: Mirror) -> None:
    """As a backup of manifests restores it where the objects are still there."""
    until_right(mirror)
    before = timeless(mirror.status())
    none = ["patch", "fn", NAME, "--type=merge", "--subresource=status", '-p={"status":null}']
    mirror.home.kubectl(*none)
    wait_until(
        lambda: timeless(mirror.status()) == before,
        within=RIGHT_SECONDS,
        what=lambda: f"{mirror.status()} is {before}",
    )
    assert len(mirror.jobs()) == 1


def timeless(status: Json) -> Json:
    """Without when its conditions turned."""
    conditions = [
        {name: value for name, value in each.items() if name != "lastTransitionTime"}
        for each in status.get("conditions") or ()
    ]
    return status | {"conditions": conditions}
