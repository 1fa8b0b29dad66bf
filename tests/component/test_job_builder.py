"""Attempts as Jobs, on an API server that pretends: what is refused, waited for and given up."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from sless.adapters.kubernetes.builder import JobBuilder
from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.job_options import BuilderKind, BuildImages, JobOptions
from sless.adapters.kubernetes.slow_start import Graces
from sless.adapters.registry.place import RegistryPlace
from sless.errors import SecretMissing
from sless.model.attempt import Attempt, AttemptState
from tests.fakes.cluster import FakeCluster, ScriptedPod
from tests.fakes.kubelet import KubeletLog

ATTEMPT = Attempt("team", "thumb", "u1", "0123456789ab", "n1", "python3.11", "0" * 64)
BEGAN = {"startedAt": "2026-01-01T00:00:00Z"}
RUNNING = {"running": BEGAN}
ENDED = {"terminated": {"exitCode": 0, **BEGAN}}
LOST = {"terminated": {"exitCode": 143, **BEGAN}}
OPTIONS = JobOptions(
    RegistryPlace("registry"),
    BuildImages("fetch", "build", "push"),
    kind=BuilderKind.BUILDAH,
    push_secret="push-auth",
    base_secret="base-auth",
    base_images={"python3.11": "base"},
    ca_config_map="company-ca",
)
MOUNTS = {"secrets/push-auth", "secrets/base-auth", "configmaps/company-ca"}


@dataclass
class Rig:
    cluster: FakeCluster = field(default_factory=lambda: FakeCluster(lambda _: None))
    server: ApiServer | None = None
    graces: Graces = field(default_factory=Graces)

    @property
    def builder(self) -> JobBuilder:
        """As after a worker's restart: it remembers nothing."""
        assert self.server
        return JobBuilder(self.server, OPTIONS, graces=self.graces)

    async def start(self, pod: ScriptedPod | None) -> None:
        self.cluster.mountable = set(MOUNTS)
        self.cluster.script = lambda _: pod
        await self.builder.ensure(ATTEMPT, context_url="http://s3/context")


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    rig = Rig()
    async with rig.cluster.serving() as rig.server:
        yield rig


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("secrets/push-auth", "SLESS_BUILDER__PUSH_SECRET names the Secret 'push-auth'"),
        ("secrets/base-auth", "SLESS_BUILDER__BASE_SECRET names the Secret 'base-auth'"),
        ("configmaps/company-ca", "SLESS_BUILDER__CA_CONFIG_MAP names the ConfigMap"),
    ],
)
async def test_a_missing_secret_fails_before_there_is_a_job(
    rig: Rig, missing: str, said: str
) -> None:
    rig.cluster.mountable = MOUNTS - {missing}
    with pytest.raises(SecretMissing, match=said):
        await rig.builder.ensure(ATTEMPT, context_url="http://s3/context")
    assert rig.cluster.jobs == {}


async def test_a_job_that_is_there_is_adopted_whatever_became_of_its_secret(rig: Rig) -> None:
    await rig.start(ScriptedPod({"fetch": RUNNING}))
    rig.cluster.mountable = set()
    await rig.builder.ensure(ATTEMPT, context_url="http://s3/another-signature")
    [job] = rig.cluster.jobs.values()
    assert "another-signature" not in str(job)


async def test_a_job_without_a_pod_waits_and_then_says_why(rig: Rig) -> None:
    await rig.start(None)
    rig.cluster.events = [event("FailedCreate", "pods is forbidden: exceeded quota")]
    waiting = await rig.builder.status(ATTEMPT)
    assert (waiting.state, waiting.reason) == (AttemptState.PENDING, "BuildNotStarted")
    rig.graces = Graces(unschedulable=0)
    given_up = await rig.builder.status(ATTEMPT)
    assert (given_up.state, given_up.reason) == (AttemptState.FAILED, "BuildNotStarted")
    assert "exceeded quota" in given_up.message


async def test_an_image_that_cannot_be_pulled_is_told_by_its_event(rig: Rig) -> None:
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling"}}
    await rig.start(ScriptedPod({"fetch": waiting}))
    rig.cluster.events = [event("Failed", "manifest unknown")]
    rig.graces = Graces(other=0)
    status = await rig.builder.status(ATTEMPT)
    assert (status.state, status.reason) == (AttemptState.FAILED, "BuildNotStarted")
    assert "ImagePullBackOff: manifest unknown (container fetch)" in status.message


async def test_a_vanished_pod_is_lost(rig: Rig) -> None:
    await rig.start(ScriptedPod({"fetch": RUNNING}))
    rig.cluster.pods.clear()
    [job] = rig.cluster.jobs.values()
    job["status"] = {
        "conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]
    }
    status = await rig.builder.status(ATTEMPT)
    assert (status.state, status.reason) == (AttemptState.FAILED, "BuildLost")


async def test_a_node_that_is_gone_holds_up_no_verdict(rig: Rig) -> None:
    await rig.start(ScriptedPod({"fetch": LOST}, "Failed", {"fetch": KubeletLog()}))
    rig.cluster.node_is_there = False
    assert (await rig.builder.status(ATTEMPT)).reason == "BuildLost"
    assert await rig.builder.read_log(ATTEMPT, offsets={}, limit=10) == []


async def test_a_log_goes_on_where_another_worker_stopped(rig: Rig) -> None:
    log = KubeletLog()
    await rig.start(ScriptedPod({"fetch": RUNNING}, logs={"fetch": log}))
    first, stayed = rig.builder, b""
    for number in range(40):
        log.write(number * 4, b"line %d" % number)
        for builder in (first, rig.builder):
            chunks = await builder.read_log(ATTEMPT, offsets={"fetch": len(stayed)}, limit=6)
            stayed += b"".join(chunk.data for chunk in chunks)
    while chunks := await first.read_log(ATTEMPT, offsets={"fetch": len(stayed)}, limit=99):
        stayed += chunks[0].data
    assert stayed == log.content


def log_of(*lines: bytes) -> KubeletLog:
    log = KubeletLog()
    for second, line in enumerate(lines):
        log.write(second, line)
    return log


async def test_following_a_build_costs_two_requests_a_look(rig: Rig) -> None:
    logs = {"fetch": log_of(b"fetched"), "build": log_of(b"building")}
    await rig.start(ScriptedPod({"fetch": ENDED, "build": RUNNING}, logs=logs))
    builder, offsets = rig.builder, {"fetch": 0, "build": 0}
    for looked in range(3):
        rig.cluster.asked.clear()
        await builder.status(ATTEMPT)
        for chunk in await builder.read_log(ATTEMPT, offsets=offsets, limit=99):
            offsets[chunk.container] += len(chunk.data)
        assert rig.cluster.asked == (["pods", "log"] if looked else ["pods", "log", "log"])
    assert offsets == {name: len(log.content) for name, log in logs.items()}


async def test_a_build_that_is_over_and_was_read_whole_is_asked_for_nothing(rig: Rig) -> None:
    logs = {"push": log_of(b"pushed")}
    states = {"fetch": ENDED, "build": ENDED, "push": ENDED}
    await rig.start(ScriptedPod(states, "Succeeded", logs=logs))
    builder = rig.builder
    await builder.status(ATTEMPT)
    [chunk] = await builder.read_log(ATTEMPT, offsets={}, limit=99)
    rig.cluster.asked.clear()
    offsets = {"push": len(chunk.data)}
    assert await builder.read_log(ATTEMPT, offsets=offsets, limit=99) == []
    assert rig.cluster.asked == []
    assert await builder.read_log(ATTEMPT, offsets={}, limit=99) == [chunk]


async def test_a_log_is_read_in_pieces_to_its_end_however_long_its_container_is_over(
    rig: Rig,
) -> None:
    log = log_of(*(b"line %d" % number for number in range(9)))
    await rig.start(ScriptedPod({"fetch": ENDED, "build": RUNNING}, logs={"fetch": log}))
    builder, stayed = rig.builder, b""
    while chunks := await builder.read_log(ATTEMPT, offsets={"fetch": len(stayed)}, limit=7):
        stayed += chunks[0].data
    assert stayed == log.content


async def test_a_node_that_is_away_for_a_moment_costs_no_log(rig: Rig) -> None:
    log = log_of(b"fetched")
    await rig.start(ScriptedPod({"fetch": ENDED, "build": RUNNING}, logs={"fetch": log}))
    builder, rig.cluster.node_is_there = rig.builder, False
    assert await builder.read_log(ATTEMPT, offsets={}, limit=99) == []
    rig.cluster.node_is_there = True
    [chunk] = await builder.read_log(ATTEMPT, offsets={}, limit=99)
    assert chunk.data == log.content


def event(reason: str, message: str) -> dict[str, Any]:
    return {"type": "Warning", "reason": reason, "message": message, "metadata": {}}
