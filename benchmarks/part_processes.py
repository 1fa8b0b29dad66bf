"""What the processes of a part of the platform take, as far as they run on this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.gateway import cpu_seconds, memory_mib
from benchmarks.watcher import peak_mib
from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.resources import PODS
from tests.cluster.chart import SYSTEM


@dataclass(frozen=True, slots=True)
class Spent:
    """What a process has taken so far."""

    mib: int
    most_mib: int
    seconds: float
    """Of a processor."""
    waited: float
    """Seconds for which its main thread could have run and others did."""


async def spent_by(server: ApiServer, part: str) -> Mapping[int, Spent]:
    """By process id."""
    labels = f"app.kubernetes.io/component={part}"
    pods = (await server.list(PODS, SYSTEM, labels=labels)).items
    containers = [
        each["containerID"].rpartition("/")[2]
        for pod in pods
        for each in pod["status"].get("containerStatuses", ())
    ]
    return {
        pid: Spent(memory_mib(pid), peak_mib(pid), cpu_seconds(pid), waited_seconds(pid))
        for pid in running()
        if any(each in cgroup_of(pid) for each in containers)
    }


def waited_seconds(pid: int) -> float:
    """Of its main thread."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9


def running() -> list[int]:
    """All processes of this machine."""
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]


def cgroup_of(pid: int) -> str:
    """Its line; empty once it is gone."""
    try:
        return Path(f"/proc/{pid}/cgroup").read_text()
    except OSError:
        return ""
