"""What the chart makes of its values, and which it refuses before anything is installed."""

import json
import subprocess
from typing import Any

import pytest
import yaml

from tests.cluster.chart import CHART, RELEASE, SYSTEM, attempt

WHOLE: dict[str, Any] = {
    "image": "registry.test/sless@sha256:1",
    "settings": {
        "SLESS_API__URL": "https://sless.test",
        "SLESS_GATEWAY__URL": "https://functions.test",
        "TEMPORAL_ADDRESS": "temporal.test:7233",
        "SLESS_REGISTRY__PUSH": "registry.test",
        "SLESS_BUILDER__BUILD_IMAGE": "registry.test/kaniko",
        "SLESS_BUILDER__PUSH_IMAGE": "registry.test/skopeo",
    },
    "tokens": {"serviceAccounts": {"enabled": True}},
}


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    """Nothing has to be: Helm renders without a cluster."""


def render(values: dict[str, Any]) -> "subprocess.CompletedProcess[str]":
    options = (f"--namespace={SYSTEM}", "--kube-version=1.33", "--values=-")
    return attempt("helm", "template", RELEASE, str(CHART), *options, given=json.dumps(values))


def with_settings(**settings: object) -> dict[str, Any]:
    return {**WHOLE, "settings": {**WHOLE["settings"], **settings}}


def rendered(values: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    done = render(values)
    assert done.returncode == 0, done.stderr
    things = [each for each in yaml.safe_load_all(done.stdout) if each]
    return next(each for each in things if (each["kind"], each["metadata"]["name"]) == (kind, name))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (536870912, "536870912"),
        (0.5, "0.5"),
        (True, "true"),
        (["python3.11"], '["python3.11"]'),
        ('["python3.11"]', '["python3.11"]'),
        ("", ""),
    ],
)
def test_a_setting_is_told_as_the_parts_read_it(given: object, text: str) -> None:
    values = with_settings(SLESS_SOME__THING=given)
    assert rendered(values, "ConfigMap", "sless-settings")["data"]["SLESS_SOME__THING"] == text


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({**WHOLE, "gatway": {"replicas": 3}}, "gatway"),
        ({**WHOLE, "gateway": {"replica": 3}}, "replica"),
        ({**WHOLE, "image": ""}, "image"),
        ({**WHOLE, "tokens": {}}, "tokens"),
        (with_settings(SLESS_API__PORT=80), "SLESS_API__PORT"),
        (with_settings(SLESS_TOKENS__ISSUERS="[]"), "SLESS_TOKENS__ISSUERS"),
        (with_settings(AWS_SECRET_ACCESS_KEY="it"), "AWS_SECRET_ACCESS_KEY"),
        (with_settings(SLESS_REGISTRY__PUSH=""), "SLESS_REGISTRY__PUSH"),
        (with_settings(SLESS_API_URL="http://x"), "SLESS_API_URL is no setting"),
        (with_settings(TEMPORAL_ADDRESS=""), "TEMPORAL_ADDRESS"),
    ],
)
def test_what_could_not_work_is_refused_by_name(values: dict[str, Any], named: str) -> None:
    done = render(values)
    assert done.returncode != 0
    assert named in done.stderr


@pytest.mark.parametrize(
    ("role", "verbs"),
    [
        ("edit", {"create", "update", "patch", "delete", "deletecollection"}),
        ("view", {"get", "list", "watch"}),
    ],
)
def test_kubernetes_own_roles_include_functions(role: str, verbs: set[str]) -> None:
    found = rendered(WHOLE, "ClusterRole", f"sless-functions-{role}")
    assert found["metadata"]["labels"][f"rbac.authorization.k8s.io/aggregate-to-{role}"] == "true"
    (rule,) = found["rules"]
    assert (rule["apiGroups"], rule["resources"]) == (["sless.io"], ["functions"])
    assert set(rule["verbs"]) == verbs


def test_requests_under_way_have_their_time_before_the_pod_is_killed() -> None:
    api = rendered(with_settings(SLESS_API__DRAIN_SECONDS=60), "Deployment", "sless-api")
    assert api["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] >= 5 + 60


def test_an_operators_files_are_in_every_part_but_envoy() -> None:
    files = [{"secret": "ca", "path": "/etc/ca"}, {"configMap": "more", "path": "/etc/more"}]
    for part in ("api", "worker", "watcher", "gateway"):
        found = rendered({**WHOLE, "files": files}, "Deployment", f"sless-{part}")
        pod = found["spec"]["template"]["spec"]
        volumes = {each["name"]: each for each in pod["volumes"]}
        assert volumes["file-0"]["secret"] == {"secretName": "ca"}
        assert volumes["file-1"]["configMap"] == {"name": "more"}
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            paths = [each["mountPath"] for each in container["volumeMounts"]]
            assert ("/etc/ca" in paths) == (container["name"] != "envoy")


def test_a_folder_of_files_is_from_one_place() -> None:
    refused = render({**WHOLE, "files": [{"path": "/etc/ca"}]})
    assert refused.returncode != 0
    assert "files" in refused.stderr
