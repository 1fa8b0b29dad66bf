"""A namespace whose Secret for pulling is missing or wrong, and then right."""

import base64
import json
from pathlib import Path

import pytest

from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.e2e.mirror import NAME, Mirror, condition
from tests.cluster.objects import REGISTRY_SECRET, ensure_registry_secret

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]


def spoil_secret(home: ClusterHome) -> None:
    """Another password for each registry that it names."""
    secret = json.loads(home.kubectl("get", "secret", REGISTRY_SECRET, "-o=json"))
    content = json.loads(base64.b64decode(secret["data"][".dockerconfigjson"]))
    wrong = base64.b64encode(b"sless:wrong").decode()
    auths = {registry: {"auth": wrong} for registry in content["auths"]}
    data = base64.b64encode(json.dumps({"auths": auths}).encode()).decode()
    body = json.dumps({"data": {".dockerconfigjson": data}})
    home.kubectl("patch", "secret", REGISTRY_SECRET, "--type=merge", f"-p={body}")


def denied(mirror: Mirror) -> None:
    """It says so, and the version before goes on answering."""
    status = mirror.until_ended("Failed")
    assert status["reason"] == "RegistryDenied", status
    assert "The image cannot be pulled" in status["message"]
    assert condition(status, "Available") == "True"
    assert mirror.ask()["version"] == "one"
    mirror.until_warned("The image cannot be pulled")


def test_a_secret_that_is_missing_wrong_and_right(home: ClusterHome, tmp_path: Path) -> None:
    mirror = Mirror(home, tmp_path / NAME)
    mirror.deploy("one")
    home.kubectl("delete", "secret", REGISTRY_SECRET)
    mirror.write("two")
    home.done("deploy", str(mirror.folder), "--name", NAME, "--no-wait")
    denied(mirror)

    ensure_registry_secret(home.namespace)
    spoil_secret(home)
    home.done("retry", NAME, "--no-wait")
    denied(mirror)

    home.kubectl("delete", "secret", REGISTRY_SECRET)
    ensure_registry_secret(home.namespace)
    home.done("retry", NAME)
    assert mirror.ask()["version"] == "two"
    assert len(mirror.jobs()) == 2
