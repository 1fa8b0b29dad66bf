"""The chart, installed into the cluster of the tests."""

import os
import shutil
import subprocess
from pathlib import Path

from tests.cluster.node.place import read_place

CHART = Path(__file__).parents[2] / "k8s" / "chart"
SYSTEM = "sless-system"
BUILDS = "sless-builds"


def install(kubeconfig: str, *options: str) -> None:
    """Installs or upgrades it; a failure says what Helm said."""
    command = [_helm(), "upgrade", "--install", "sless", str(CHART), f"--namespace={SYSTEM}"]
    done = subprocess.run(
        [*command, "--create-namespace", *options],
        env={**os.environ, "KUBECONFIG": kubeconfig},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def _helm() -> str:
    own = read_place().program("helm")
    found = own if os.access(own, os.X_OK) else shutil.which("helm")
    assert found, "Helm is missing: run make cluster-up, or put it on the PATH."
    return found
