"""How real pods fare, as the cluster and its kubelet tell it."""

import os
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.deployment_options import DeploymentOptions
from sless.adapters.kubernetes.deployments import KubernetesDeployments
from sless.adapters.kubernetes.functions import KubernetesFunctions
from sless.adapters.kubernetes.resources import DEPLOYMENTS
from sless.model.deployment import Availability, Deployment, Progress, Revision
from tests.cluster.node.images import PAUSE, PYTHON_BASE
from tests.cluster.spaces import MANAGER, ensure_spaces
from tests.cluster.swapping import swap_revision
from tests.fixtures.waiting import until

SPACE = "rollouts"
SPEC = {"s3Key": f"functions/{SPACE}/hello/{'a' * 64}-python3.11.zip", "runtime": "python3.11"}
GONE = f"sha256:{'1' * 64}"
OPTIONS = DeploymentOptions(progress_seconds=10)
"""Longer than a container takes to start, twice, on a busy machine."""


@pytest.fixture
def bases() -> str:
    """The registry of base images: anyone may read it."""
    address = os.environ.get("BASES")
    if not address:
        pytest.fail("BASES names no registry: run make cluster-up.", pytrace=False)
    return address


def image(bases: str, name: str) -> str:
    repository, _, tag = name.partition(":")
    kinds = "application/vnd.oci.image.manifest.v1+json"
    answer = httpx.head(
        f"http://{bases}/v2/{repository}/manifests/{tag}", headers={"Accept": kinds}
    )
    return f"{bases}/{repository}@{answer.headers['Docker-Content-Digest']}"


def revision(image: str, *, handler: str | None = None) -> Revision:
    return Revision(image=image, build="0" * 12, runtime="python3.11", handler=handler)


@pytest.fixture
def deployments(server: ApiServer) -> KubernetesDeployments:
    return KubernetesDeployments(server, OPTIONS)


@pytest.fixture
async def fresh(server: ApiServer, bases: str) -> AsyncIterator[Deployment]:
    """Of the Python image, which has no program of its own."""
    await ensure_spaces(server, (SPACE,))
    function = (
        await KubernetesFunctions(server).create(SPACE, "hello", spec=SPEC, manager=MANAGER)
    ).function
    yield Deployment(
        namespace=SPACE,
        name="hello",
        ask=function.ask,
        revision=revision(image(bases, PYTHON_BASE)),
    )
    await ensure_spaces(server, (SPACE,))


async def create(deployments: KubernetesDeployments, wanted: Deployment) -> None:
    async def is_free() -> bool:
        # What belonged to an earlier Function goes a moment after it.
        return await deployments.find(SPACE, "hello") is None

    await until(is_free)
    await deployments.create(wanted)


async def start(server: ApiServer, program: list[str]) -> None:
    """By hand, as an image's entry point would."""
    container = {"name": "function", "command": program}
    template = {"spec": {"containers": [container]}}
    body = {"metadata": {"name": "fn-hello"}, "spec": {"template": template}}
    await server.apply(DEPLOYMENTS, SPACE, body, manager="hand", force=True)


async def judged(deployments: KubernetesDeployments, progress: Progress) -> Availability:
    async def reached() -> Availability | None:
        found = await deployments.find(SPACE, "hello")
        return found.availability if found and found.availability.progress is progress else None

    return await until(reached, pause=0.2)  # type: ignore[no-any-return]  # of any condition


async def test_a_bad_image_is_told_while_the_old_revision_serves(
    server: ApiServer, deployments: KubernetesDeployments, fresh: Deployment, bases: str
) -> None:
    await create(deployments, fresh)
    await start(server, ["python3", "-m", "http.server", "8080"])
    await judged(deployments, Progress.AVAILABLE)
    await swap_revision(deployments, SPACE, revision(f"{bases}/python@{GONE}"))
    availability = await judged(deployments, Progress.FAILED)
    assert availability.reason == "ImageMissing"
    assert GONE in availability.message
    live = await server.find(DEPLOYMENTS, SPACE, "fn-hello")
    assert live is not None
    assert live["status"]["availableReplicas"] == 1


@pytest.mark.parametrize(
    ("said", "reason", "message"),
    [
        ('{"reason": "HandlerImportFailed", "message": "no x"}', "HandlerImportFailed", "no x"),
        ("", "FunctionCrashed", "exit code 3: last line"),
    ],
    ids=["in the runtime's words", "in its log's"],
)
async def test_a_crash_is_told(  # noqa: PLR0913  # fixtures and a table
    server: ApiServer,
    deployments: KubernetesDeployments,
    fresh: Deployment,
    *,
    said: str,
    reason: str,
    message: str,
) -> None:
    await create(deployments, fresh)
    line = f"printf '%s' '{said}' >$SLESS_TERMINATION_LOG; echo first; echo last line; exit 3"
    await start(server, ["sh", "-c", line])
    availability = await judged(deployments, Progress.FAILED)
    assert availability.reason == reason
    assert message in availability.message


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (PAUSE, "ReadinessTimedOut"),
        (PYTHON_BASE, "FunctionNotStarted"),
    ],
    ids=["does not listen", "has no program"],
)
async def test_a_pod_that_does_not_come_up_is_told(
    deployments: KubernetesDeployments, fresh: Deployment, bases: str, *, name: str, reason: str
) -> None:
    await create(deployments, replace(fresh, revision=revision(image(bases, name))))
    assert (await judged(deployments, Progress.FAILED)).reason == reason


async def test_a_registry_that_is_away_is_told(
    deployments: KubernetesDeployments, fresh: Deployment
) -> None:
    # No registry listens there.
    await create(deployments, replace(fresh, revision=revision(f"127.0.0.1:9/hello@{GONE}")))
    availability = await judged(deployments, Progress.FAILED)
    assert availability.reason == "RegistryUnavailable"
    assert "127.0.0.1:9" in availability.message
