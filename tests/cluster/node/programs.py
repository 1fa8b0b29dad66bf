"""Kubernetes and what it stands on, built from the Go modules that `programs/` pins.

Cold, on two idle processors: a quarter of an hour. Afterwards nothing is built while the pins and
the flags are the same.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.node.commands import Unready, run
from tests.cluster.node.place import Place

PINS = Path(__file__).parents[1] / "programs"
"""A go.mod with go.sum for each source."""
_VERSION = "k8s.io/component-base/version"
_MAJOR, _MINOR, _PATCH = 1, 36, 3
"""Of Kubernetes, as in its go.mod."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program and the package that is its main."""

    name: str
    source: str
    """A folder of `PINS`."""
    package: str
    variables: tuple[str, ...] = ()
    """Set by the linker: what a release's own scripts set."""
    tags: str = ""

    def command(self, place: Place) -> list[str]:
        """Builds it."""
        linker = " ".join(["-s", "-w", *(f"-X {each}" for each in self.variables)])
        flags = ["-trimpath", "-buildvcs=false", "-mod=readonly", f"-tags={self.tags}"]
        target = ["-o", place.program(self.name)]
        return ["go", "build", *flags, "-ldflags", linker, *target, self.package]

    def stamp(self, place: Place) -> str:
        """Differs when another program would be built."""
        pins = [(PINS / self.source / file).read_bytes() for file in ("go.mod", "go.sum")]
        return hashlib.sha256(b"\0".join([*pins, repr(self.command(place)).encode()])).hexdigest()


def _kubernetes(name: str) -> Program:
    return Program(
        name,
        "kubernetes",
        f"k8s.io/kubernetes/cmd/{name}",
        variables=(
            f"{_VERSION}.gitVersion=v{_MAJOR}.{_MINOR}.{_PATCH}",
            f"{_VERSION}.gitMajor={_MAJOR}",
            f"{_VERSION}.gitMinor={_MINOR}",
        ),
    )


API_PROGRAMS = (
    Program("etcd", "etcd", "go.etcd.io/etcd/server/v3"),
    _kubernetes("kube-apiserver"),
    _kubernetes("kubectl"),
    Program("helm", "helm", "helm.sh/helm/v3/cmd/helm"),
)
"""Enough for an API server that nothing runs behind."""

_CONTAINERD = "github.com/containerd/containerd/v2/cmd"
NODE_PROGRAMS = (
    *(
        _kubernetes(name)
        for name in ("kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy")
    ),
    Program("runc", "runc", "github.com/opencontainers/runc", tags="seccomp"),
    Program("containerd", "containerd", f"{_CONTAINERD}/containerd"),
    Program("containerd-shim-runc-v2", "containerd", f"{_CONTAINERD}/containerd-shim-runc-v2"),
    Program("ctr", "containerd", f"{_CONTAINERD}/ctr"),
    Program("coredns", "coredns", "github.com/coredns/coredns"),
    Program(
        "kube-router", "kube-router", "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router"
    ),
)


def build(place: Place, programs: Iterable[Program]) -> list[str]:
    """Builds what is absent or of another version; its names."""
    wanted = [program for program in programs if not _is_built(place, program)]
    if wanted and shutil.which("go") is None:
        raise Unready("Go is missing: install 1.21 or newer (https://go.dev/dl), which gets 1.26.")
    place.programs.mkdir(parents=True, exist_ok=True)
    for program in wanted:
        print(f"Building {program.name} …", flush=True)  # noqa: T201  # a command of people
        run(program.command(place), cwd=PINS / program.source)
        _stamp(place, program).write_text(program.stamp(place))
    return [program.name for program in wanted]


def _is_built(place: Place, program: Program) -> bool:
    stamp = _stamp(place, program)
    runs = os.access(place.program(program.name), os.X_OK)
    return runs and stamp.exists() and stamp.read_text() == program.stamp(place)


def _stamp(place: Place, program: Program) -> Path:
    return place.programs / f".{program.name}.stamp"
