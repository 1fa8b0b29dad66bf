"""The life of builds on the cluster: one for each zip, however often anybody asks or looks."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from sless.archive import pack
from sless.model.phase import Phase
from tests.cluster.e2e.asking import PATIENCE, Ask, Trace, answer, asked, trace, until_ended
from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.e2e.folders import impossible, quick
from tests.cluster.e2e.parts import scaled
from tests.cluster.e2e.traces import ORDER, Traces, told
from tests.e2e.running import wait_until

__all__ = ["trace"]

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

UPLOADS = 20
QUIET_SECONDS = 60
"""After a failure, in which all is looked at anew at least once."""


@pytest.fixture(scope="module")
def failed(shared_home: ClusterHome, trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """A function whose only build failed."""
    ask = asked(trace(shared_home, "failed"), impossible(tmp_path_factory.mktemp("failed")))
    until_ended(ask.traces, "Failed")
    return ask


def test_a_build_that_always_fails_is_tried_once(failed: Ask) -> None:
    traces = failed.traces
    assert traces.status()["reason"] == "DependencyInstallFailed"
    assert "six>=99" in traces.home.done("logs", traces.name)
    assert len(traces.jobs()) == 1
    assert traces.build_runs(failed.build) == 1


@pytest.fixture(scope="module")
def many(shared_home: ClusterHome, trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """A function whose one zip was uploaded twenty times at once."""
    traces, path = trace(shared_home, "many"), tmp_path_factory.mktemp("many")
    body = zip_of(quick(path / "many", "first"), path / "many.zip")
    with ThreadPoolExecutor(UPLOADS) as people:
        answers = list(people.map(lambda _: upload(traces, body), range(UPLOADS)))
    assert {each.status_code for each in answers} == {httpx.codes.ACCEPTED}, answers
    [build] = {each.json()["build"] for each in answers}
    until_ended(traces, "Ready")
    return Ask(traces, build, time.monotonic())


def zip_of(folder: Path, path: Path) -> bytes:
    pack(folder, path)
    return path.read_bytes()


def upload(traces: Traces, body: bytes) -> httpx.Response:
    """As another program does."""
    environ = traces.home.environ()
    path = f"/v1/namespaces/{traces.home.namespace}/functions/{traces.name}/code"
    with httpx.Client(base_url=traces.home.api, trust_env=False, timeout=60) as client:
        return client.put(
            path,
            content=body,
            params={"runtime": "python3.11"},
            headers={"Authorization": f"Bearer {environ['SLESS_TOKEN']}"},
        )


def test_twenty_uploads_of_one_zip_at_once_are_one_build(many: Ask) -> None:
    traces = many.traces
    assert answer(traces) == "first"
    assert len(traces.jobs()) == 1
    assert traces.build_runs(many.build) == 1
    assert traces.rollouts() == 1


def test_one_digest_is_in_status_registry_deployment_and_pod(many: Ask) -> None:
    traces = many.traces
    image = traces.status()["image"]
    assert traces.image() == image
    digest = image.rpartition("@")[2]
    tags = traces.tags(image, many.build)
    assert many.build in tags
    assert set(tags.values()) == {digest}
    assert digest in traces.home.kubectl(
        "get", "pods", f"-l=sless.io/function={traces.name}", "-o=json"
    )


def test_the_same_zip_is_not_built_again_whatever_temporal_has_forgotten(
    many: Ask, tmp_path: Path
) -> None:
    traces = many.traces
    traces.home.done("deploy", str(quick(tmp_path / "again", "first")), "--name", traces.name)
    assert len(traces.jobs()) == 1
    traces.forget(many.build)
    wait_until(
        lambda: traces.build_runs(many.build) + traces.function_runs() == 0,
        within=60,
        what="its histories are gone",
    )
    traces.home.done("deploy", str(quick(tmp_path / "later", "first")), "--name", traces.name)
    assert traces.status()["build"] == many.build
    assert len(traces.jobs()) == 1
    assert traces.build_runs(many.build) == 0
    assert traces.rollouts() == 1


def test_a_rollback_builds_nothing_and_overwrites_no_tag(many: Ask, tmp_path: Path) -> None:
    traces = many.traces
    image = traces.image()
    tags = traces.tags(image, many.build)
    traces.home.done("deploy", str(quick(tmp_path / "second", "second")), "--name", traces.name)
    assert answer(traces) == "second"
    assert traces.image() != image
    jobs = traces.jobs()
    traces.home.done("rollback", traces.name, many.build)
    assert answer(traces) == "first"
    assert traces.image() == traces.status()["image"] == image
    assert traces.jobs() == jobs
    assert traces.tags(image, many.build) == tags


def test_two_watchers_and_many_looks_make_one_build(
    shared_home: ClusterHome, trace: Trace, tmp_path: Path
) -> None:
    traces = trace(shared_home, "watched")
    with scaled("watcher", 2):
        ask = asked(traces, quick(tmp_path / "watched", "watched"))
        with told(shared_home, traces.name) as seen:
            count = 0
            while not traces.ended("Ready"):
                assert time.monotonic() < ask.at + PATIENCE, traces.status()
                count += 1
                mark = f"example.com/look={count}"
                shared_home.kubectl("annotate", "fn", traces.name, mark, "--overwrite")
                traces.look()
            wait_until(lambda: "Ready" in dict(seen).values(), within=30, what=lambda: str(seen))
    assert len(traces.jobs()) == 1
    assert traces.build_runs(ask.build) == 1
    assert traces.rollouts() == 1
    phases = [phase for _, phase in seen]
    assert {"Building", "Ready"} <= set(phases)
    assert phases == sorted(phases, key=lambda phase: ORDER.index(Phase(phase))), seen


def test_what_failed_is_not_tried_again_by_itself(failed: Ask) -> None:
    """The last one here, so that nobody has to wait for it."""
    traces = failed.traces
    runs = traces.function_runs()
    rest = failed.at + QUIET_SECONDS
    for count in range(3):
        mark = f"example.com/look={count}"
        traces.home.kubectl("annotate", "fn", traces.name, mark, "--overwrite")
    wait_until(lambda: time.monotonic() > rest, within=QUIET_SECONDS, what="a quiet minute")
    assert traces.ended("Failed")
    assert len(traces.jobs()) == 1
    assert traces.build_runs(failed.build) == 1
    assert traces.function_runs() == runs
