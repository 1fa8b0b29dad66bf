"""Builds on a real cluster: a namespace with its Secrets, and contexts that pods can fetch.

REGISTRY takes images and asks for a password; BASES has those of `tests.cluster.node.images`. The
builder is Buildah from the cluster's own images, or what BUILDER and BUILDER_IMAGE name;
TOOLS_IMAGE is another image with python3 and skopeo. On a cluster that is not ours
REGISTRY_AUTH_FILE names the registry's credentials, and HOST_ADDRESS how pods reach this machine.
"""

import asyncio
import contextlib
import os
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sless.adapters.kubernetes.builder import JobBuilder
from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.job_options import BuilderKind, BuildImages, JobOptions
from sless.adapters.kubernetes.resources import JOBS, PODS
from sless.adapters.kubernetes.slow_start import Graces
from sless.adapters.registry.connect import connect_registry
from sless.adapters.registry.images import RegistryImages
from sless.adapters.registry.place import RegistryPlace
from sless.archive import Runtime
from sless.dependencies import Language
from sless.model.attempt import Attempt, AttemptState, AttemptStatus
from sless.model.function import FunctionRef
from tests.cluster.node.images import BUILDER, PYTHON_BASE
from tests.cluster.node.place import read_place
from tests.cluster.objects import REGISTRY_SECRET, ensure_registry_secret, registry_credentials
from tests.cluster.spaces import ensure_spaces
from tests.component.contexts import serving, write_context

SPACE = "sless-test-builds"
RUNTIME = "python3.11"
F = FunctionRef("team", "thumb")
BUILD_SECONDS = 240.0
"""Generous: a cold base image, an install, on two shared processors."""
ENDED = (AttemptState.SUCCEEDED, AttemptState.FAILED)


@dataclass(frozen=True)
class BuildRig:
    """Made by `building`."""

    server: ApiServer
    options: JobOptions
    images: RegistryImages
    auth: Path
    """The registry's credentials."""
    web: Path
    url: str
    graces: Graces = field(default_factory=Graces)

    @property
    def builder(self) -> JobBuilder:
        """As after a worker's restart: it remembers nothing."""
        return JobBuilder(self.server, self.options, graces=self.graces)

    def attempt(self, files: Mapping[str, str | bytes], *, deadline: int = 600) -> Attempt:
        """A fresh attempt at building those files."""
        base = self.options.base_images[RUNTIME]
        runtimes = {RUNTIME: Runtime(RUNTIME, Language.PYTHON, base)}
        return Attempt(
            namespace=F.namespace,
            name=F.name,
            uid="u1",
            build=uuid.uuid4().hex[:12],
            nonce=uuid.uuid4().hex[:8],
            runtime=RUNTIME,
            context_sha256=write_context(files, self.web, runtime=RUNTIME, runtimes=runtimes),
            deadline_seconds=deadline,
        )

    async def start(self, attempt: Attempt) -> None:
        """Has it built."""
        await self.builder.ensure(attempt, context_url=f"{self.url}/{attempt.context_sha256}")

    async def reached(self, attempt: Attempt, *states: AttemptState) -> AttemptStatus:
        """Waits for one of those states."""
        async with asyncio.timeout(BUILD_SECONDS):
            while True:
                status = await self.builder.status(attempt)
                if status.state in states:
                    return status
                await asyncio.sleep(0.2)

    async def build(self, attempt: Attempt) -> AttemptStatus:
        """Has it built and waits for the end; what it left is deleted."""
        await self.start(attempt)
        try:
            return await self.reached(attempt, *ENDED)
        finally:
            await self.builder.delete(attempt)

    async def pods(self, attempt: Attempt) -> list[str]:
        """Names of the attempt's."""
        labels = f"sless.io/nonce={attempt.nonce}"
        page = await self.server.list(PODS, SPACE, labels=labels)
        return [pod["metadata"]["name"] for pod in page.items]

    def changed(self, *, graces: Graces | None = None, **options: object) -> "BuildRig":
        """With other options."""
        changed = replace(self.options, **options)  # type: ignore[arg-type]
        return replace(self, options=changed, graces=graces or self.graces)


@contextlib.asynccontextmanager
async def building(server: ApiServer, web: Path) -> AsyncIterator[BuildRig]:
    """A rig with contexts in that folder; no Job of it is left."""
    registry, bases = os.environ["REGISTRY"], os.environ["BASES"]
    auth = registry_credentials()
    place = RegistryPlace(registry, prefix="builds", plain_http=frozenset({registry, bases}))
    await ensure_spaces(server, [SPACE])
    await asyncio.to_thread(ensure_registry_secret, SPACE)
    host = os.environ.get("HOST_ADDRESS") or read_place().ip
    async with connect_registry(place, credentials=auth) as images:
        with serving(web, host=host) as url:
            yield BuildRig(server, _options(place, bases), images, auth, web, url)
            for job in (await server.list(JOBS, SPACE)).items:
                await server.delete(JOBS, SPACE, job["metadata"]["name"])


def _options(place: RegistryPlace, bases: str) -> JobOptions:
    tools = os.environ.get("TOOLS_IMAGE") or f"{bases}/{BUILDER}"
    return JobOptions(
        place,
        BuildImages(fetch=tools, build=os.environ.get("BUILDER_IMAGE") or tools, push=tools),
        kind=BuilderKind(os.environ.get("BUILDER") or BuilderKind.BUILDAH),
        namespace=SPACE,
        push_secret=REGISTRY_SECRET,
        pull_secret=REGISTRY_SECRET,
        base_images={RUNTIME: f"{bases}/{PYTHON_BASE}"},
    )
