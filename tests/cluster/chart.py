"""The chart, installed into the cluster of the tests."""

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.cluster.node.place import S3_PORT, read_place

CHART = Path(__file__).parents[2] / "k8s" / "chart"
RELEASE, SYSTEM = "sless", "sless-system"
BUILDS = "sless-builds"


Values = Mapping[str, Any]
"""Of the chart, as its values.yaml has them."""
NO_PARTS: Values = {"parts": {"enabled": False}}
NO_WATCHER: Values = {"watcher": {"replicas": 0}}


def install_quietly(kubeconfig: str) -> None:
    """As it is here, without a watcher: its writes would disturb tests about something else."""
    os.environ["KUBECONFIG"] = kubeconfig
    if run("helm", "list", "--all", "--short", f"--filter=^{RELEASE}$", f"--namespace={SYSTEM}"):
        install(kubeconfig, NO_WATCHER, "--reset-then-reuse-values")
    else:
        install(kubeconfig, NO_PARTS)


def install(kubeconfig: str, values: Values, *options: str) -> None:
    """Installs or upgrades it, one at a time; a failure says what Helm or kubectl said."""
    os.environ["KUBECONFIG"] = kubeconfig
    with locked():
        # Helm installs a custom resource once and never changes it.
        run("kubectl", "apply", "--server-side", "--force-conflicts", "-f", str(CHART / "crds"))
        release = ["upgrade", "--install", RELEASE, str(CHART), f"--namespace={SYSTEM}"]
        usual = ["--create-namespace", "--take-ownership", "--skip-crds", "--values=-"]
        given = json.dumps({"builds": _builds(), **values})
        run("helm", *release, *usual, *options, given=given)


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """One process of the tests at a time."""
    lock = read_place().cache / "chart.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _builds() -> dict[str, object]:
    builder = os.environ.get("BUILDER") or "buildah"
    addresses = [os.environ.get(name, "") for name in ("REGISTRY", "BASES")]
    if os.environ.get("BASES") != read_place().bases:
        return {"builder": builder}  # of a cluster that is not ours we know no private addresses
    ip = read_place().ip
    ports = [int(address.rpartition(":")[2]) for address in addresses]
    reachable = [{"cidr": f"{ip}/32", "ports": [*ports, S3_PORT]}]
    return {"builder": builder, "reachable": reachable, "dns": [f"{ip}/32"]}


def run(program: str, *words: str, given: str | None = None) -> str:
    """What helm or kubectl answers; it must succeed."""
    done = attempt(program, *words, given=given)
    assert done.returncode == 0, f"{program} {words}: {done.stdout}{done.stderr}"
    return done.stdout


def attempt(
    program: str, *words: str, given: str | None = None
) -> "subprocess.CompletedProcess[str]":
    """Likewise, whether or not it succeeds."""
    command = [find_program(program), *words]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


def find_program(program: str) -> str:
    """Ours, else the one on the PATH."""
    own = read_place().program(program)
    found = own if os.access(own, os.X_OK) else shutil.which(program)
    assert found, f"{program} is missing: run make cluster-up, or put it on the PATH."
    return found
