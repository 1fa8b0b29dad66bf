"""What the machine must offer, told in one go with the command that brings it."""

import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from tests.cluster.node.commands import Unready

API_PACKAGES: Mapping[str, str] = {"openssl": "openssl", "ip": "iproute2"}
"""Debian's package by the command it brings."""
NODE_PACKAGES: Mapping[str, str] = {
    "iptables": "iptables",
    "ipset": "ipset",
    "conntrack": "conntrack",
    "docker-registry": "docker-registry",
    "buildah": "buildah",
    "skopeo": "skopeo",
    "socat": "socat",
    "busybox": "busybox-static",
    "debootstrap": "debootstrap",
}
_FILES: Mapping[Path, str] = {
    Path("/usr/lib/cni/bridge"): "containernetworking-plugins",
    Path("/usr/include/seccomp.h"): "libseccomp-dev",
}


def check_root() -> None:
    """Raises `Unready`."""
    if os.geteuid() != 0:
        raise Unready(
            "The cluster's node makes a bridge, mounts and containers: start it as root, such as "
            "`sudo make cluster-up`. A cluster of your own needs none of this: "
            "`KUBECONFIG=… REGISTRY=… make test-cluster`."
        )


def check_folder(folder: Path) -> None:
    """It goes when the cluster goes, and pods walk through it as nobody; raises `Unready`."""
    cure = "set SLESS_CLUSTER_DIR to a folder of its own elsewhere."
    if folder.exists() and any(folder.iterdir()) and not is_ours(folder):
        raise Unready(f"{folder} holds something else: {cure}")
    for above in folder.parents:
        if above.exists() and not above.stat().st_mode & stat.S_IXOTH:
            raise Unready(f"{above} is closed to others, so pods could not start below it: {cure}")


def is_ours(folder: Path) -> bool:
    """Whether a cluster was started in it."""
    return (folder / "pki" / "tokens.csv").exists()


def check_packages(*, api_only: bool) -> None:
    """Raises `Unready` with the command that installs all that is missing."""
    missing = missing_packages(api_only=api_only)
    if missing:
        raise Unready(f"Missing here: apt-get install {' '.join(missing)}")


def missing_packages(*, api_only: bool) -> list[str]:
    """Debian's packages that are needed and not there."""
    commands = {**API_PACKAGES, **({} if api_only else NODE_PACKAGES)}
    missing = [package for command, package in commands.items() if shutil.which(command) is None]
    if not api_only:
        missing += [package for path, package in _FILES.items() if not path.exists()]
    return sorted(missing)
