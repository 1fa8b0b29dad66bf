"""What the embedded home gives the worker."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sless.adapters.bundles.builder import BundleBuilder
from sless.adapters.sqlite.deployments import SqliteDeployments
from sless.adapters.sqlite.functions import SqliteFunctions
from sless.archive import DEFAULT_RUNTIMES
from sless.dependencies import Language
from sless.local.compose import make_images, open_database
from sless.roots.pipeline_ports import PipelinePorts
from sless.runtime import runtime_files
from sless.settings import Settings


@asynccontextmanager
async def open_ports(settings: Settings) -> AsyncIterator[PipelinePorts]:
    """On home.db and the home's disk."""
    offered = settings.runtimes.offered
    async with open_database(settings) as database:
        yield PipelinePorts(
            functions=SqliteFunctions(database),
            deployments=SqliteDeployments(database, progress_deadline=settings.deadlines.progress),
            builder=BundleBuilder(database),
            images=make_images(settings),
            runtimes={name: kind for name, kind in DEFAULT_RUNTIMES.items() if name in offered},
            runtime_files={language: runtime_files(language) for language in Language},
        )
