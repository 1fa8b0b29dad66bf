"""The Secret that pushes is missing from the builds' namespace."""

from pathlib import Path

import pytest

from tests.cluster.chart import BUILDS, run
from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.e2e.mirror import NAME, Mirror
from tests.cluster.objects import REGISTRY_SECRET, ensure_registry_secret

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


def test_a_missing_secret_is_told_before_there_is_a_job(home: ClusterHome, tmp_path: Path) -> None:
    mirror = Mirror(home, tmp_path / NAME)
    mirror.write("one")
    run("kubectl", f"-n={BUILDS}", "delete", "secret", REGISTRY_SECRET)
    try:
        failed = home.sless("deploy", str(mirror.folder), "--name", NAME)
        assert failed.returncode == 1, failed.stderr
        assert "SecretMissing" in failed.stderr
        assert mirror.until_ended("Failed")["reason"] == "SecretMissing"
        assert REGISTRY_SECRET in mirror.status()["message"]
        assert home.builds("jobs,pods") == []
    finally:
        ensure_registry_secret(BUILDS)
    home.done("retry", NAME)
    assert mirror.ask()["version"] == "one"
