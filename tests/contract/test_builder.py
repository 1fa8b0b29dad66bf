"""What every builder does, the scripted one included."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from sless.adapters.kubernetes.builder import JobBuilder
from sless.adapters.kubernetes.job_options import BuildImages, JobOptions
from sless.adapters.registry.place import RegistryPlace
from sless.errors import AlreadyExists
from sless.model.attempt import Attempt, AttemptState, AttemptStatus
from sless.naming import attempt_tag
from sless.ports import Builder, Images
from tests.component.contexts import HELLO, silence
from tests.component.runner_home import F, running
from tests.fakes.builder import Fail, FakeBuilder, Hang, Succeed
from tests.fakes.cluster import FakeCluster, ScriptedPod
from tests.fakes.images import FakeImages, digest_of
from tests.fakes.kubelet import KubeletLog

WAIT = 60.0


@dataclass(frozen=True)
class Works:
    """A builder with three attempts prepared for it, and where their contexts lie."""

    builder: Builder
    images: Images
    url: str
    good: Attempt
    bad: Attempt
    """Fails with `DependencyInstallFailed`."""
    endless: Attempt
    wait: float = WAIT
    """Seconds that may pass until a state is reached."""

    async def start(self, attempt: Attempt) -> None:
        await self.builder.ensure(attempt, context_url=f"{self.url}/{attempt.context_sha256}")

    async def reached(self, attempt: Attempt, *states: AttemptState) -> AttemptStatus:
        async with asyncio.timeout(self.wait):
            while True:
                status = await self.builder.status(attempt)
                if status.state in states:
                    return status
                await asyncio.sleep(0.02)


ENDED = (AttemptState.SUCCEEDED, AttemptState.FAILED)


@asynccontextmanager
async def _fake(_: Path) -> AsyncIterator[Works]:
    images = FakeImages()
    builder = FakeBuilder(images)
    good, bad, endless = (
        Attempt(F.namespace, F.name, "u1", "0123456789ab", nonce, "python3.11", "0" * 64)
        for nonce in ("n1", "n2", "n3")
    )
    builder.by_nonce = {"n1": Succeed(), "n2": Fail("DependencyInstallFailed"), "n3": Hang()}
    yield Works(builder, images, "http://nowhere", good, bad, endless)


@asynccontextmanager
async def _bundles(folder: Path) -> AsyncIterator[Works]:
    async with running(folder) as home:
        with silence() as index:
            yield Works(
                builder=home.builder,
                images=home.images,
                url=home.url,
                good=home.attempt({"handler.py": HELLO}),
                bad=home.attempt({"handler.py": HELLO, "requirements.txt": "six>=99"}),
                endless=home.attempt(
                    {"handler.py": HELLO, "requirements.txt": f"-i {index}/simple\nsix"}
                ),
            )


_ENDED = {"terminated": {"exitCode": 0, "startedAt": "2026-01-01T00:00:00Z"}}
_FAILED = {"terminated": {"exitCode": 1, "startedAt": "2026-01-01T00:00:00Z"}}
_RUNNING = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
_REFUSAL = "error: No solution found\n  cause: six>=99 is not there\nError: exit status 1"
_DIGEST = digest_of("built")


@asynccontextmanager
async def _jobs(_: Path) -> AsyncIterator[Works]:
    """On an API server that pretends to have controllers and nodes."""
    images, log = FakeImages(), KubeletLog()
    for line in _REFUSAL.splitlines():
        log.write(7, line.encode())

    def run(job: dict[str, Any]) -> ScriptedPod:
        labels = job["metadata"]["labels"]
        match labels["sless.io/nonce"]:
            case "n1":
                tag = attempt_tag(labels["sless.io/build"], "n1")
                images.push(F, tag=tag, digest=_DIGEST)
                pushed = {"terminated": {**_ENDED["terminated"], "message": _DIGEST}}
                states = {"fetch": _ENDED, "build": _ENDED, "push": pushed}
                return ScriptedPod(states, "Succeeded")
            case "n2":
                return ScriptedPod({"fetch": _ENDED, "build": _FAILED}, "Failed", {"build": log})
            case _:
                return ScriptedPod({"fetch": _ENDED, "build": _RUNNING})

    good, bad, endless = (
        Attempt(F.namespace, F.name, "u1", "0123456789ab", nonce, "python3.11", "0" * 64)
        for nonce in ("n1", "n2", "n3")
    )
    options = JobOptions(RegistryPlace("registry"), BuildImages("fetch", "build", "push"))
    async with FakeCluster(run).serving() as server:
        builder = JobBuilder(server, options)
        yield Works(builder, images, "http://nowhere", good, bad, endless)


@pytest.fixture(params=[_fake, _jobs, pytest.param(_bundles, marks=pytest.mark.real)])
async def works(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Works]:
    make: Callable[[Path], AbstractAsyncContextManager[Works]] = request.param
    async with make(tmp_path) as made:
        yield made


async def test_a_good_build_is_in_the_registry_under_its_attempts_tag(works: Works) -> None:
    await works.start(works.good)
    status = await works.reached(works.good, *ENDED)
    assert status.state is AttemptState.SUCCEEDED, status
    tag = attempt_tag(works.good.build, works.good.nonce)
    assert await works.images.find(F, tag) == status.digest


async def test_a_bad_build_says_why(works: Works) -> None:
    await works.start(works.bad)
    status = await works.reached(works.bad, *ENDED)
    assert (status.state, status.reason) == (AttemptState.FAILED, "DependencyInstallFailed")
    assert status.message
    assert status.digest == ""


async def test_an_attempt_that_is_there_is_adopted(works: Works) -> None:
    for _ in range(3):
        await works.start(works.good)
    first = await works.reached(works.good, *ENDED)
    await works.start(works.good)
    assert await works.builder.status(works.good) == first


async def test_another_functions_job_is_not_adopted(works: Works) -> None:
    await works.start(works.good)
    with pytest.raises(AlreadyExists):
        await works.start(replace(works.good, uid="u2"))


async def test_a_log_can_be_read_in_pieces(works: Works) -> None:
    await works.start(works.bad)
    await works.reached(works.bad, *ENDED)
    whole = await works.builder.read_log(works.bad, offsets={}, limit=1_000_000)
    assert whole
    offsets: dict[str, int] = {}
    pieces: dict[str, bytes] = {}
    while chunks := await works.builder.read_log(works.bad, offsets=offsets, limit=7):
        for chunk in chunks:
            assert chunk.start == offsets.get(chunk.container, 0)
            pieces[chunk.container] = pieces.get(chunk.container, b"") + chunk.data
            offsets[chunk.container] = chunk.start + len(chunk.data)
    assert pieces == {chunk.container: chunk.data for chunk in whole}


async def test_a_deleted_attempt_is_lost(works: Works) -> None:
    await works.start(works.endless)
    await works.reached(works.endless, AttemptState.RUNNING)
    await works.builder.delete(works.endless)
    status = await works.builder.status(works.endless)
    assert (status.state, status.reason) == (AttemptState.FAILED, "BuildLost")
    assert await works.builder.read_log(works.endless, offsets={}, limit=10) == []


async def test_deleting_what_is_not_there_is_no_error(works: Works) -> None:
    await works.builder.delete(works.good)
    assert (await works.builder.status(works.good)).reason == "BuildLost"
