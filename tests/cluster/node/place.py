"""Where the test cluster keeps things, and by which addresses it is reached."""

import os
from dataclasses import dataclass
from pathlib import Path

NODE = "node1"
API_PORT, ETCD_PORT, ETCD_PEER_PORT = 6443, 2379, 2380
REGISTRY_PORT, BASES_PORT, FILLING_PORT = 5000, 5001, 5002
TEMPORAL_PORT, TEMPORAL_UI_PORT, S3_PORT = 7233, 8233, 8333
TEMPORAL_INNER_PORT = 17233
"""On the loopback; pods come by the other one."""
SERVICES = "10.96.0.0/16"
"""Addresses of Services; the first is the API server's."""


@dataclass(frozen=True, slots=True)
class Place:
    """Of one cluster. Programs and images are kept for ever, the rest until it goes down."""

    cache: Path
    folder: Path
    ip: str
    """The bridge's: node, registry, DNS, S3 and Temporal have it, since pods can reach it."""

    @property
    def programs(self) -> Path:
        """What was built from Go modules."""
        return self.cache / "bin"

    @property
    def images(self) -> Path:
        """What was made from Debian packages: an archive each."""
        return self.cache / "images"

    @property
    def kubeconfig(self) -> Path:
        """Of an administrator."""
        return self.folder / "kubeconfig"

    @property
    def run(self) -> Path:
        """Pid files."""
        return self.folder / "run"

    @property
    def pods(self) -> str:
        """Addresses of pods, the bridge's own included."""
        return f"{self.ip.rsplit('.', 2)[0]}.0.0/16"

    @property
    def registry(self) -> str:
        """The one that asks for a password: the same for those who push and those who pull."""
        return f"{self.ip}:{REGISTRY_PORT}"

    @property
    def bases(self) -> str:
        """The one that anyone may read and nobody may write: what builds start from."""
        return f"{self.ip}:{BASES_PORT}"

    def make(self) -> None:
        """Makes the folders."""
        for name in ("pki", "run", "logs", "cni", "certs.d"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def program(self, name: str) -> str:
        """One of ours."""
        return str(self.programs / name)


def read_place() -> Place:
    """From `SLESS_CLUSTER_CACHE`, `SLESS_CLUSTER_DIR` and `SLESS_CLUSTER_IP`."""
    cache = Path(os.environ.get("SLESS_CLUSTER_CACHE") or "~/.cache/sless-cluster").expanduser()
    folder = Path(os.environ.get("SLESS_CLUSTER_DIR") or "/var/lib/sless-cluster")
    ip = os.environ.get("SLESS_CLUSTER_IP") or "10.88.0.1"
    return Place(cache=cache.resolve(), folder=folder.resolve(), ip=ip)
