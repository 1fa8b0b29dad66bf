"""The contract of Warnings, on an API server that keeps events as Kubernetes' parts write them."""

import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sless.adapters.kubernetes.client import ApiServer, connect
from sless.adapters.kubernetes.resources import EVENTS, Resource
from sless.adapters.kubernetes.warnings import KubernetesWarnings
from sless.errors import StoreUnavailable
from sless.model.function import FunctionRef
from sless.naming import job_name, resource_name
from sless.ports import Warnings
from tests.cluster.chart import SYSTEM
from tests.cluster.spaces import MANAGER, ensure_spaces
from tests.contract.test_warnings import *  # noqa: F403  # the contract's tests are the point
from tests.contract.test_warnings import BUILD, HELLO, Warn, find, stamp

BUILDS = "warned-builds"
SPACES = ("warned", "warned-too", BUILDS)
NEWER = Resource("events.k8s.io/v1", "events", "Event")
LETTERS = "bcdfghjklmnp"


@pytest.fixture(autouse=True)
async def spaces(server: ApiServer) -> AsyncIterator[None]:
    await ensure_spaces(server, SPACES)
    await forget(server)
    yield
    await forget(server)


async def forget(server: ApiServer) -> None:
    for namespace in SPACES:
        for event in (await server.list(EVENTS, namespace)).items:
            await server.delete(EVENTS, namespace, event["metadata"]["name"])


@pytest.fixture  # type: ignore[no-redef]  # in place of the contract's own
def warnings(server: ApiServer) -> Warnings:
    return KubernetesWarnings(server, builds=BUILDS, fresh_seconds=0)


@pytest.fixture  # type: ignore[no-redef]  # likewise
def warn(server: ApiServer) -> Warn:
    async def warn(
        function: FunctionRef = HELLO,
        *,
        which: int = 0,
        message: str = "Why not.",
        count: int = 1,
        ago: int = 0,
    ) -> None:
        seen = datetime.now(UTC) - timedelta(seconds=ago)
        pod = f"{resource_name(function.name)}-5d4c8f7b9-{LETTERS[which] * 5}"
        await tell(server, function.namespace, ("Pod", pod), message, count=count, seen=seen)

    return warn


async def tell(
    server: ApiServer,
    namespace: str,
    about: tuple[str, str],
    message: str = "It went wrong.",
    **more: Any,
) -> None:
    """As a kubelet writes an event."""
    kind, name = about
    seen = stamp(more.pop("seen", datetime.now(UTC)))
    body = {
        "metadata": {"name": f"{name}.{uuid.uuid4().hex[:16]}"},
        "involvedObject": {"kind": kind, "namespace": namespace, "name": name},
        "type": "Warning",
        "reason": "FailedScheduling",
        "message": message,
        "firstTimestamp": seen,
        "lastTimestamp": seen,
        **more,
    }
    await server.create(EVENTS, namespace, body, manager=MANAGER)


async def test_its_set_and_its_build_are_told_too(server: ApiServer, warnings: Warnings) -> None:
    job = job_name("hello", BUILD, "69a1b2c3d4e5")
    about = {
        "warned": [("Deployment", "fn-hello"), ("ReplicaSet", "fn-hello-5d4c8f7b9")],
        BUILDS: [("Job", job), ("Pod", f"{job}-x2x4z")],
    }
    strangers = [("Pod", "hello"), ("Job", job), ("Deployment", "fn-hello-5d4c8f7b9")]
    for namespace, things in about.items():
        for thing in things:
            await tell(server, namespace, thing)
    for thing in strangers:
        await tell(server, "warned", thing)
    await tell(server, BUILDS, ("Job", job_name("hello", "ba9876543210", "69a1b2c3d4e5")))
    told = [f"{kind.lower()} {name}" for things in about.values() for kind, name in things]
    assert sorted(warning.about for warning in await find(warnings)) == sorted(told)


async def test_what_is_no_warning_or_old_is_not_told(server: ApiServer, warnings: Warnings) -> None:
    pod = ("Pod", "fn-hello-5d4c8f7b9-x2x4z")
    await tell(server, "warned", pod, type="Normal")
    await tell(server, "warned", pod, seen=datetime.now(UTC) - timedelta(seconds=3601))
    assert await find(warnings) == []


async def test_a_scheduler_writes_the_newer_kind(server: ApiServer, warnings: Warnings) -> None:
    name = "fn-hello-5d4c8f7b9-x2x4z"
    first, last = (datetime.now(UTC) - timedelta(seconds=ago) for ago in (600, 60))
    body = {
        "metadata": {"name": f"{name}.{uuid.uuid4().hex[:16]}"},
        "regarding": {"kind": "Pod", "namespace": "warned", "name": name},
        "type": "Warning",
        "reason": "FailedScheduling",
        "note": "0/1 nodes are available.",
        "action": "Scheduling",
        "eventTime": micro(first),
        "series": {"count": 7, "lastObservedTime": micro(last)},
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-0",
    }
    await server.create(NEWER, "warned", body, manager=MANAGER)
    (found,) = await find(warnings)
    assert (found.count, found.last_seen) == (7, stamp(last))
    assert found.message == "No node takes the pod: 0/1 nodes are available."


def micro(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


async def test_the_apis_rights_are_enough(kubeconfig: str, warn: Warn) -> None:
    await warn()
    api = await acting_as(kubeconfig, f"system:serviceaccount:{SYSTEM}:sless-api")
    assert len(await find(KubernetesWarnings(api, builds=BUILDS))) == 1
    await api.close()


async def test_without_them_it_cannot_be_told(kubeconfig: str) -> None:
    nobody = await acting_as(kubeconfig, "nobody")
    with pytest.raises(StoreUnavailable, match="refuses us a right"):
        await find(KubernetesWarnings(nobody, builds=BUILDS))
    await nobody.close()


async def acting_as(kubeconfig: str, user: str) -> ApiServer:
    server = await connect(kubeconfig)
    server._connection._client.set_default_header("Impersonate-User", user)  # type: ignore[no-untyped-call]
    return server
