"""Chooses the embedded home's adapters: each role opens what it needs, from the settings alone.

Temporal's and S3's clients are imported where they are opened: half a second each, which the runner
does not need.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from sless.adapters.bundles.images import BundleImages
from sless.adapters.sqlite.database import Database
from sless.archive import ArchiveLimits
from sless.errors import InvalidSetting, Transient, WorkflowsUnavailable
from sless.local.layout import Layout
from sless.settings import Settings

if TYPE_CHECKING:
    from temporalio.client import Client

    from sless.adapters.s3 import S3Objects
    from sless.adapters.temporal_runs import TemporalRuns

_T = TypeVar("_T")

_RETRY_SECONDS = 0.2
"""Between two tries at a part that starts at the same time as we do."""


def home_layout(settings: Settings) -> Layout:
    """The data folder; raises `InvalidSetting` where nothing names it, or for another home."""
    if settings.home != "embedded":
        raise InvalidSetting(f"SLESS_HOME is {settings.home}: this process is the embedded home's.")
    if settings.data is None:
        raise InvalidSetting("SLESS_DATA must name the data folder; sless up does so.")
    return Layout(settings.data.absolute())


def archive_limits(settings: Settings) -> ArchiveLimits:
    """What a zip may hold: the API refuses by it, and the worker must not refuse by another."""
    limits = settings.limits
    return ArchiveLimits(
        entries=limits.entries,
        inflated_bytes=limits.inflated_bytes,
        packed_bytes=limits.packed_bytes,
    )


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """home.db."""
    database = Database(home_layout(settings).database)
    try:
        yield database
    finally:
        database.close()


@asynccontextmanager
async def open_objects(settings: Settings) -> AsyncIterator["S3Objects"]:
    """The bucket, made if absent, in a store that keeps what is written once.

    Raises `StorageUnavailable` when S3 does not answer within the deadline of a start, and
    `InvalidSetting` when it would overwrite.
    """
    from sless.adapters.s3 import S3Endpoint, S3Objects, connect_s3

    storage = settings.storage
    client = await asyncio.to_thread(
        connect_s3,
        S3Endpoint(url=storage.endpoint, region=storage.region, path_style=storage.path_style),
    )
    objects = S3Objects(client, storage.bucket)
    try:
        await _patiently(objects.ensure_bucket, seconds=settings.deadlines.start)
        await _patiently(objects.probe, seconds=settings.deadlines.start)
        yield objects
    finally:
        objects.close()


async def connect_temporal(settings: Settings) -> "Client":
    """A client by Temporal's own variables; raises `WorkflowsUnavailable` after the deadline."""
    from temporalio.client import Client
    from temporalio.envconfig import ClientConfig
    from temporalio.service import RPCError

    async def connect() -> Client:
        try:
            return await Client.connect(**ClientConfig.load_client_connect_config())
        except (RPCError, RuntimeError) as error:
            raise WorkflowsUnavailable(f"Temporal does not answer: {error}.") from error

    return await _patiently(connect, seconds=settings.deadlines.start)


def make_runs(settings: Settings, client: "Client") -> "TemporalRuns":
    """Runs on the settings' task queue, with links to the home's Temporal UI."""
    from sless.adapters.temporal_runs import TemporalRuns

    temporal = settings.temporal
    return TemporalRuns(client, ui_url=temporal.ui_url, task_queue=temporal.task_queue)


def make_images(settings: Settings) -> BundleImages:
    """Bundles on the home's disk."""
    return BundleImages(home_layout(settings).images)


async def _patiently(call: Callable[[], Awaitable[_T]], *, seconds: float) -> _T:
    """Calls again while the other side is away, at most so long."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return await call()
        except Transient:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(_RETRY_SECONDS)
