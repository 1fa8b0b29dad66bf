"""The watcher's scene on an API server, with the rights that the chart gives the watcher."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sless.adapters.kubernetes import client as client_module
from sless.adapters.kubernetes import follow as follow_module
from sless.adapters.kubernetes import function_events
from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.deployment_options import DeploymentOptions
from sless.adapters.kubernetes.functions import KubernetesFunctions
from sless.adapters.kubernetes.render_deployment import render_deployment, render_service
from sless.adapters.kubernetes.resources import DEPLOYMENTS, EVENTS, FUNCTIONS, SERVICES
from sless.model.deployment import Deployment, Revision
from sless.model.function import Function
from sless.naming import S3Key
from tests.cluster.scene_rig import Scene, watching
from tests.cluster.spaces import MANAGER, ensure_spaces
from tests.fixtures.waiting import until

SPACE = "scene"
IMAGE = f"registry.test/x@sha256:{'1' * 64}"
REVISION = Revision(image=IMAGE, build="0" * 12, runtime="python3.11")


@pytest.fixture(autouse=True)
def short_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence is noticed within seconds."""
    monkeypatch.setattr(client_module, "_QUIET_SECONDS", 3.0)
    monkeypatch.setattr(function_events, "QUIET_SECONDS", 3)


@pytest.fixture
async def functions(server: ApiServer) -> AsyncIterator[KubernetesFunctions]:
    await ensure_spaces(server, (SPACE,))
    yield KubernetesFunctions(server)
    await ensure_spaces(server, (SPACE,))


@pytest.fixture
async def scene(
    kubeconfig: str, tmp_path: Path, functions: KubernetesFunctions
) -> AsyncIterator[Scene]:
    del functions  # the namespace is empty first
    async with watching(kubeconfig, SPACE, folder=tmp_path) as scene:
        yield scene


async def ask(functions: KubernetesFunctions, name: str) -> Function:
    key = str(S3Key(SPACE, name, "0" * 64, "python3.11"))
    spec = {"s3Key": key, "runtime": "python3.11"}
    return (await functions.create(SPACE, name, spec=spec, manager=MANAGER)).function


def idle_deployment(function: Function) -> dict[str, object]:
    """Which the cluster's controllers, if there are any, leave alone."""
    body = render_deployment(
        Deployment(SPACE, function.name, function.ask, REVISION), DeploymentOptions()
    )
    body["spec"]["replicas"] = 0
    return body


async def test_functions_come_change_and_go(scene: Scene, functions: KubernetesFunctions) -> None:
    await scene.settle()
    await ask(functions, "hello")
    await ask(functions, "other")
    first, other = await scene.get("hello"), await scene.get("other")
    assert first.stored.function.generation == 1
    await functions.patch(SPACE, "hello", spec={"handler": "main:app"}, manager=MANAGER)

    async def is_newer() -> bool:
        found = await scene.find("hello")
        return found is not None and found.stored.function.generation == 2

    await until(is_newer)
    assert await scene.find("other") is other
    await functions.delete(SPACE, "hello")

    async def is_gone() -> bool:
        return await scene.find("hello") is None

    await until(is_gone)
    assert await scene.find("other") is other


async def test_what_was_there_before_is_seen(
    kubeconfig: str, tmp_path: Path, functions: KubernetesFunctions
) -> None:
    await ask(functions, "hello")
    async with watching(kubeconfig, SPACE, folder=tmp_path) as scene:
        await scene.settle()
        assert await scene.find("hello") is not None


async def test_nothing_is_written(
    scene: Scene, functions: KubernetesFunctions, server: ApiServer
) -> None:
    await scene.settle()
    made = await ask(functions, "hello")
    mark = {"metadata": {"annotations": {"kopf.zalando.org/last-handled-configuration": "{"}}}
    marked = await server.patch(FUNCTIONS, SPACE, "hello", mark, manager=MANAGER)
    assert marked is not None

    async def is_seen() -> bool:
        found = await scene.find("hello")
        version = found.stored.function.resource_version if found else ""
        return version == str(marked["metadata"]["resourceVersion"])

    await until(is_seen)
    await ask(functions, "later")
    await scene.get("later")
    found = await server.find(FUNCTIONS, SPACE, "hello")
    assert found is not None
    assert made.uid == found["metadata"]["uid"]
    assert found["metadata"]["resourceVersion"] == marked["metadata"]["resourceVersion"]
    assert "finalizers" not in found["metadata"]
    assert not (await server.list(EVENTS, SPACE)).items


async def test_deployments_come_and_go(
    scene: Scene, functions: KubernetesFunctions, server: ApiServer
) -> None:
    function = await ask(functions, "hello")
    await server.create(DEPLOYMENTS, SPACE, idle_deployment(function), manager=MANAGER)

    async def is_deployed() -> bool:
        found = await scene.find("hello")
        return found is not None and found.deployment is not None

    await until(is_deployed)
    await server.delete(DEPLOYMENTS, SPACE, "fn-hello")

    async def is_bare() -> bool:
        return not await is_deployed()

    await until(is_bare)


async def test_a_service_comes_and_goes(
    scene: Scene, functions: KubernetesFunctions, server: ApiServer
) -> None:
    function = await ask(functions, "hello")
    await server.create(DEPLOYMENTS, SPACE, idle_deployment(function), manager=MANAGER)
    service = render_service(Deployment(SPACE, "hello", function.ask, REVISION))
    await server.create(SERVICES, SPACE, service, manager=MANAGER)

    async def is_exposed() -> bool:
        found = await scene.find("hello")
        return found is not None and found.deployment is not None and found.deployment.exposed

    async def is_hidden() -> bool:
        return not await is_exposed()

    await until(is_exposed)
    hand = {"spec": {"selector": {"by": "hand"}}}
    await server.patch(SERVICES, SPACE, "fn-hello", hand, manager="hand")
    await until(is_hidden)
    await server.patch(
        SERVICES, SPACE, "fn-hello", {"spec": {"selector": {"by": None}}}, manager="hand"
    )
    await until(is_exposed)
    await server.delete(SERVICES, SPACE, "fn-hello")
    await until(is_hidden)


async def test_a_foreign_object_hides_only_itself(
    scene: Scene, functions: KubernetesFunctions, server: ApiServer
) -> None:
    spoiled, whole = await ask(functions, "spoiled"), await ask(functions, "whole")
    rubbish = idle_deployment(spoiled)
    metadata = rubbish["metadata"]
    assert isinstance(metadata, dict)
    metadata["annotations"] = {"sless.io/uid": "u", "sless.io/generation": "many"}
    await server.create(DEPLOYMENTS, SPACE, rubbish, manager=MANAGER)
    await server.create(DEPLOYMENTS, SPACE, idle_deployment(whole), manager=MANAGER)

    async def is_deployed() -> bool:
        found = await scene.find("whole")
        return found is not None and found.deployment is not None

    await until(is_deployed)
    assert (await scene.get("spoiled")).deployment is None


@pytest.mark.parametrize("silent", [False, True], ids=["ended", "silent"])
async def test_connections_may_die(
    scene: Scene,
    functions: KubernetesFunctions,
    server: ApiServer,
    *,
    silent: bool,
) -> None:
    await scene.settle()
    await ask(functions, "before")
    await scene.get("before")
    (scene.wire.silence if silent else scene.wire.cut)()
    during = await ask(functions, "during")
    await server.create(DEPLOYMENTS, SPACE, idle_deployment(during), manager=MANAGER)
    await functions.delete(SPACE, "before")
    scene.wire.mend()

    async def is_caught_up() -> bool:
        found = await scene.find("during")
        seen = found is not None and found.deployment is not None
        return seen and await scene.find("before") is None

    await until(is_caught_up, seconds=60)


async def test_a_deletion_that_kopf_missed_is_found(
    kubeconfig: str,
    tmp_path: Path,
    functions: KubernetesFunctions,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(follow_module, "RESYNC_SECONDS", 1.0)
    monkeypatch.setattr(function_events.FunctionEvents, "start", lambda _: None)
    await ask(functions, "hello")
    async with watching(kubeconfig, SPACE, folder=tmp_path) as scene:
        await scene.get("hello")
        await functions.delete(SPACE, "hello")
        await ask(functions, "later")
        await scene.get("later")
        assert await scene.find("hello") is None
