"""What a build needs, and how it is killed: pods by their deletion, neighbours as by a crash."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.chart import SYSTEM, run
from tests.cluster.e2e.asking import Ask
from tests.cluster.node.commands import stop
from tests.cluster.node.control_plane import start_api_server
from tests.cluster.node.place import Place, read_place
from tests.cluster.node.stores import start_s3, start_temporal
from tests.e2e.running import wait_until

NOW = ("--force", "--grace-period=0", "--wait=true")


def kill_part(part: str) -> None:
    """All pods of a part; its Deployment makes others."""
    label = f"-l=app.kubernetes.io/component={part}"
    run("kubectl", f"-n={SYSTEM}", "delete", "pods", label, *NOW)


def kill_build(ask: Ask) -> None:
    """The pod that makes the image."""
    pods = ask.traces.jobs(ask.build, kinds="pods")
    run("kubectl", "-n=sless-builds", "delete", *pods, *NOW)


def restart(program: str, start: Callable[[Place], None]) -> None:
    """A program of this machine, and waits until it answers again."""
    place = read_place()
    stop(place, program, seconds=0)
    start(place)


VICTIMS: dict[str, Callable[[Ask], None]] = {
    "api": lambda _: kill_part("api"),
    "worker": lambda _: kill_part("worker"),
    "watcher": lambda _: kill_part("watcher"),
    "gateway": lambda _: kill_part("gateway"),
    "build": kill_build,
    "temporal": lambda _: restart("temporal", start_temporal),
    "s3": lambda _: restart("weed", start_s3),
    "api server": lambda _: restart("kube-apiserver", start_api_server),
}


def follower(ask: Ask) -> int:
    """The process on this machine that follows the build."""
    wait_until(
        lambda: any(each.get("lastWorkerIdentity") for each in ask.traces.pending(ask.build)),
        within=60,
        what="somebody follows the build",
    )
    [activity] = ask.traces.pending(ask.build)
    pod = activity["lastWorkerIdentity"].rpartition("@")[2]
    path = "-o=jsonpath={.metadata.uid}"
    uid = run("kubectl", f"-n={SYSTEM}", "get", "pod", pod, path)
    return _process(uid, b"worker")


def _process(uid: str, word: bytes) -> int:
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            inside = uid in (entry / "cgroup").read_text()
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if inside and word in words:
            return int(entry.name)
    raise AssertionError(f"no process of pod {uid} is on this machine")


@contextmanager
def paused(pid: int) -> Iterator[None]:
    """It does nothing while the block lasts."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def pass_time(seconds: float) -> None:
    """When time itself is what a test is about."""
    end = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() > end, within=seconds + 5, what="time passes")


@contextmanager
def no_room() -> Iterator[None]:
    """No node takes a pod while the block lasts."""
    nodes = run("kubectl", "get", "nodes", "-o=name").split()
    run("kubectl", "cordon", *nodes)
    try:
        yield
    finally:
        run("kubectl", "uncordon", *nodes)
