"""Parts of the platform: how many pods each has, and whether they serve."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.cluster.chart import SYSTEM, run

PARTS = ("api", "worker", "watcher", "gateway")


def until_ready(*parts: str) -> None:
    """Until those, or all, have as many ready pods as they should have."""
    for part in parts or PARTS:
        _kubectl("rollout", "status", f"deployment/sless-{part}", "--timeout=180s")


@contextmanager
def scaled(part: str, count: int) -> Iterator[None]:
    """So many pods of it, all at work, while the block lasts."""
    deployment = f"deployment/sless-{part}"
    before = _kubectl("get", deployment, "-o=jsonpath={.spec.replicas}")
    try:
        _kubectl("scale", deployment, f"--replicas={count}")
        if count == 0:
            label = f"-l=app.kubernetes.io/component={part}"
            _kubectl("wait", "pods", label, "--for=delete", "--timeout=120s")
        until_ready(part)
        yield
    finally:
        _kubectl("scale", deployment, f"--replicas={before}")
        until_ready(part)


def _kubectl(*words: str) -> str:
    return run("kubectl", f"-n={SYSTEM}", *words)
