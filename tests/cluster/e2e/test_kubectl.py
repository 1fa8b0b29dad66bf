"""A Function's life by kubectl alone, once its zip is stored."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cluster.chart import Values
from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.e2e.folders import quick
from tests.cluster.e2e.held import holding
from tests.e2e.lives import ALL, EXAMPLES, Example
from tests.e2e.running import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]


_GREETING = """
import os


def handler(request):
    return os.environ.get("GREETING", "Hello")
"""


def stored(home: ClusterHome, folder: Path, name: str) -> dict[str, Any]:
    """The manifest of a Function whose zip the API has, and nothing more."""
    manifest = home.done("upload", str(folder), "--name", name, "-o", "manifest")
    parsed: dict[str, Any] = json.loads(manifest)
    return parsed


def applied(home: ClusterHome, manifest: dict[str, Any]) -> None:
    home.kubectl("apply", "-f", "-", given=json.dumps(manifest))


def waited(home: ClusterHome, name: str, condition: str = "Ready") -> None:
    """As a pipeline does."""
    home.kubectl("wait", f"--for=condition={condition}", f"function/{name}", "--timeout=240s")


def status_of(home: ClusterHome, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(home.kubectl("get", "fn", name, "-o=json"))["status"]
    return found


@pytest.mark.parametrize("example", ALL, ids=lambda example: example.name)
def test_every_example_by_kubectl_apply(home: ClusterHome, example: Example) -> None:
    applied(home, stored(home, EXAMPLES / example.name, example.name))
    waited(home, example.name)
    assert example.use(home, f"{home.namespace}/{example.name}/") == example.first


def test_a_life_by_kubectl(home: ClusterHome, tmp_path: Path) -> None:
    folder = quick(tmp_path / "hello", "Hello")
    (folder / "handler.py").write_text(_GREETING)
    path = f"{home.namespace}/hello/"
    first = stored(home, folder, "hello")
    applied(home, first)
    waited(home, "hello")
    assert home.call(path).text == "Hello"
    row = home.kubectl("get", "fn", "hello").splitlines()
    assert row[0].split() == ["NAME", "PHASE", "REASON", "RUNTIME", "AGE", "URL", "IMAGE"]
    assert row[1].split()[1:4] == ["Ready", "Ready", "python3.11"]

    first["spec"]["env"] = [{"name": "GREETING", "value": "Good day"}]
    applied(home, first)
    waited(home, "hello", "Ready")
    wait_until(
        lambda: home.call(path).text == "Good day",
        within=60,
        what="the variable has arrived",
    )

    broken_code = f"raise RuntimeError('out of luck')\n{_GREETING}"
    (folder / "handler.py").write_text(broken_code)
    broken = stored(home, folder, "hello")
    applied(home, broken)
    wait_until(
        lambda: ended(home, "Failed"), within=240, what=lambda: str(status_of(home, "hello"))
    )
    status = status_of(home, "hello")
    assert status["reason"] == "HandlerImportFailed"
    assert "out of luck" in status["message"]
    available = next(each for each in status["conditions"] if each["type"] == "Available")
    assert available["status"] == "True"
    assert home.call(path).text == "Good day"

    # A rollback: the earlier key, and nothing is built.
    applied(home, first)
    waited(home, "hello")
    assert status_of(home, "hello")["phase"] == "Ready"

    home.kubectl("delete", "fn", "hello", "--timeout=30s")
    home.until_nothing_left()
    wait_until(
        lambda: home.call(path).status_code == httpx.codes.NOT_FOUND,
        within=60,
        what=lambda: f"its route is gone: {home.call(path).status_code}",
    )


def ended(home: ClusterHome, phase: str) -> bool:
    """Whether the newest generation came to that end."""
    found = json.loads(home.kubectl("get", "fn", "hello", "-o=json"))
    status = found.get("status") or {}
    seen = status.get("observedGeneration") == found["metadata"]["generation"]
    return seen and status.get("phase") == phase


def test_a_request_and_a_cancel_by_kubectl(
    home: ClusterHome, installed: Values, tmp_path: Path
) -> None:
    with holding(installed["settings"]) as hold:
        held = hold.hold(quick(tmp_path / "held", "one"))
        applied(home, stored(home, held, "hello"))
        wait_until(
            lambda: status_of_or_none(home).get("phase") == "Building", within=120, what="it builds"
        )
        home.kubectl("annotate", "fn", "hello", "sless.io/cancel=1")
        wait_until(
            lambda: ended(home, "Cancelled"), within=60, what=lambda: str(status_of(home, "hello"))
        )
        wait_until(lambda: not home.builds(), within=60, what="nothing builds any more")

    # The annotation stays: it is about the generation that it names.
    applied(home, stored(home, quick(tmp_path / "quick", "two"), "hello"))
    waited(home, "hello")
    before = status_of(home, "hello")["observedGeneration"]
    home.kubectl("patch", "fn", "hello", "--type=merge", '-p={"spec":{"request":"again"}}')
    wait_until(
        lambda: (
            status_of(home, "hello")["observedGeneration"] == before + 1 and ended(home, "Ready")
        ),
        within=120,
        what=lambda: str(status_of(home, "hello")),
    )


def test_a_newer_spec_by_kubectl_overtakes_a_build(
    home: ClusterHome, installed: Values, tmp_path: Path
) -> None:
    with holding(installed["settings"]) as hold:
        applied(home, stored(home, hold.hold(quick(tmp_path / "held", "one")), "hello"))
        wait_until(
            lambda: status_of_or_none(home).get("phase") == "Building", within=120, what="it builds"
        )
        applied(home, stored(home, quick(tmp_path / "quick", "two"), "hello"))
        waited(home, "hello")
    assert home.call(f"{home.namespace}/hello/").text == "two"


def status_of_or_none(home: ClusterHome) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(home.kubectl("get", "fn", "hello", "-o=json"))
    return found.get("status") or {}
