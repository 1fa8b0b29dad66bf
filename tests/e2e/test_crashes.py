"""SIGKILL of every part of the home at every step of a build, and at random moments.

The end is the same as without: the new revision serves, its image was made once, its build ended
once, and nothing of what was there before is lost.
"""

import json
import random
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from sless.naming import build_workflow_id
from tests.e2e.running import RunningHome, wait_until

pytestmark = [pytest.mark.real, pytest.mark.timeout(420)]

PARTS = ["worker", "api", "watcher", "temporal", "weed", "runner", "envoy"]
PHASES = ["Preparing", "Building", "Deploying"]
SEEDS = [1, 2, 3, 4]
RECOVERY_SECONDS = 180
"""Backoffs of 30 s add up on a slow machine; alone it takes some ten."""


def write_function(folder: Path, version: str) -> Path:
    """Slow enough at each step to be hit: data to pack, a dependency, an import that waits."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath("data.bin").write_bytes(random.Random(version).randbytes(12_000_000))  # noqa: S311  # data that does not compress
    folder.joinpath("requirements.txt").write_text("six==1.17.0\n")
    folder.joinpath("handler.py").write_text(
        f"import time\n\nimport six\n\ntime.sleep(1)\n\n\ndef handler(request):\n"
        f"    return {version!r} + six.__version__\n"
    )
    return folder


def answer(home: RunningHome, name: str) -> str:
    """What the function says; empty while it says nothing."""
    try:
        response = home.call(f"default/{name}/")
    except httpx.HTTPError:
        return ""
    return response.text if response.is_success else ""


def phase(home: RunningHome, name: str) -> str:
    """The phase in status; empty while nobody tells it."""
    result = home.sless("get", name, "-o", "json")
    if result.returncode:
        return ""
    return str(json.loads(result.stdout)["status"].get("phase", ""))


def deploy(home: RunningHome, folder: Path, name: str) -> str:
    """Uploads without waiting; the build's id."""
    return str(home.json("deploy", str(folder), "--name", name, "--no-wait")["build"])


def assert_ended_well(home: RunningHome, name: str, *, build: str, says: str) -> None:
    wait_until(
        lambda: answer(home, name).startswith(says) and phase(home, name) == "Ready",
        within=RECOVERY_SECONDS,
        what=lambda: f"{name} says {says}: {home.sless('get', name).stdout}\n{home.tail()}",
    )
    # What was killed when all was done already may still be away.
    wait_until(
        lambda: newest_build(home, name) == (build, "Ready"),
        within=RECOVERY_SECONDS,
        what=lambda: f"{build} is the newest: {home.sless('builds', name).stdout}",
    )
    tags = home.layout.images / "tags" / "default" / name
    assert tags.joinpath(build).is_file()
    digests = {tag.read_text() for tag in tags.glob(f"{build}*")}
    assert len(digests) == 1, "more than one image was made of one upload"
    workflow = build_workflow_id("default", name, build)
    wait_until(
        lambda: completed_runs(home, workflow) == 1,
        within=RECOVERY_SECONDS,
        what=lambda: f"one run of {build} completed: {completed_runs(home, workflow)}",
    )


def newest_build(home: RunningHome, name: str) -> tuple[str, str] | None:
    """Its id and phase; None while nobody tells them."""
    result = home.sless("builds", name, "-o", "json")
    if result.returncode:
        return None
    newest = json.loads(result.stdout)["items"][0]
    return newest["id"], newest["phase"]


def completed_runs(home: RunningHome, workflow_id: str) -> int | None:
    """By Temporal's own HTTP API, which its UI uses, a moment late; None while it is away."""
    query = f'WorkflowId = "{workflow_id}" AND ExecutionStatus = "Completed"'
    url = f"{home.facts.temporal_ui}/api/v1/namespaces/default/workflow-count"
    try:
        with httpx.Client(trust_env=False) as client:
            found = client.get(url, params={"query": query}).raise_for_status()
    except httpx.HTTPError:
        return None
    return int(found.json().get("count", 0))


@pytest.fixture(scope="module")
def serving(home: RunningHome, tmp_path_factory: pytest.TempPathFactory) -> RunningHome:
    """The shared home, with a first version of each function that is hurt below."""
    first = write_function(tmp_path_factory.mktemp("first"), "first ")
    for part in PARTS:
        home.done("deploy", str(first), "--name", f"hurt-{part}")
    return home


@pytest.mark.parametrize("at", PHASES)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_killed(serving: RunningHome, tmp_path: Path, part: str, at: str) -> None:
    home, name, says = serving, f"hurt-{part}", f"{at} {part} "
    build = deploy(home, write_function(tmp_path, says), name)
    wait_until(
        lambda: phase(home, name) in {at, "Deploying", "Ready"}, within=60, what=f"{name} is {at}"
    )
    home.kill_part(part)
    assert_ended_well(home, name, build=build, says=says)


@pytest.mark.parametrize("at", PHASES)
def test_the_whole_home_is_killed(
    make_home: Callable[[], RunningHome], tmp_path: Path, at: str
) -> None:
    home = make_home()
    home.start()
    home.wait_up()
    home.done("deploy", str(write_function(tmp_path / "a", "first ")), "--name", "f")
    build = deploy(home, write_function(tmp_path / "b", "second "), "f")
    wait_until(lambda: phase(home, "f") in {at, "Deploying", "Ready"}, within=60, what=f"f is {at}")
    home.kill()
    home.start()
    home.wait_up()
    assert_ended_well(home, "f", build=build, says="second ")
    first = home.json("builds", "f")["items"][-1]
    assert first["phase"] == "Ready", "the history from before the kill is there"
    assert "Pushed" in home.done("logs", "f", "--build", first["id"])
    assert home.stop() == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_are_killed_at_random(serving: RunningHome, tmp_path: Path, seed: int) -> None:
    """Three kills of any parts, at any moment of one build."""
    chance = random.Random(seed)  # noqa: S311  # moments, not secrets
    home, name, says = serving, f"random-{seed}", f"seed {seed} "
    build = deploy(home, write_function(tmp_path, says), name)
    for part in chance.sample(PARTS, 3):
        moment = chance.uniform(0.1, 2.0)
        wait_until(_after(moment), within=moment + 5, what="time passes")
        home.kill_part(part)
    assert_ended_well(home, name, build=build, says=says)


def _after(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end
