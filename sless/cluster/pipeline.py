"""What the Kubernetes home gives the worker."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sless.adapters.kubernetes.builder import JobBuilder
from sless.adapters.kubernetes.builder_options import (
    graces_of,
    job_options_of,
    place_of,
    runtimes_of,
)
from sless.adapters.kubernetes.deployments import KubernetesDeployments
from sless.adapters.kubernetes.functions import KubernetesFunctions
from sless.adapters.kubernetes.pod_options import deployment_options_of
from sless.adapters.registry.connect import connect_registry
from sless.adapters.registry.images import RegistryImages
from sless.adapters.registry.session import Patience
from sless.adapters.runtime_site import read_launcher_site
from sless.archive.dockerfile import RUNTIME_SITE
from sless.cluster.compose import open_server
from sless.cluster.sweeper import sweeping
from sless.dependencies import Language
from sless.roots.pipeline_ports import PipelinePorts
from sless.runtime import runtime_files
from sless.settings import RegistrySettings, Settings


@asynccontextmanager
async def open_ports(settings: Settings) -> AsyncIterator[PipelinePorts]:
    """On the custom resource, Jobs, Deployments and the registry.

    Raises `InvalidSetting` for what is missing, before anything is connected to.
    """
    options, runtimes = job_options_of(settings), runtimes_of(settings.runtimes)
    pods = deployment_options_of(settings)
    async with (
        open_server(settings) as server,
        sweeping(server, settings.builder.namespace),
        _open_images(settings.registry) as images,
    ):
        yield PipelinePorts(
            functions=KubernetesFunctions(server, leaving=False),
            deployments=KubernetesDeployments(server, pods),
            builder=JobBuilder(server, options, graces=graces_of(settings.builder)),
            images=images,
            runtimes=runtimes,
            runtime_files={language: _runtime_files(language) for language in Language},
        )


def _runtime_files(language: Language) -> dict[str, bytes]:
    """An image brings what the launcher runs on, so that no build has to ask an index for it."""
    files = dict(runtime_files(language))
    if language is Language.PYTHON:
        files |= {f"{RUNTIME_SITE}/{path}": file for path, file in read_launcher_site().items()}
    return files


@asynccontextmanager
async def _open_images(registry: RegistrySettings) -> AsyncIterator[RegistryImages]:
    async with connect_registry(
        place_of(registry),
        credentials=registry.credentials,
        ca_file=registry.ca_file,
        patience=Patience(request=registry.request_seconds, busy=registry.busy_seconds),
    ) as images:
        yield images
