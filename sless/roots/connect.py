"""Connections to S3 and Temporal, which start when we do: each is waited for.

Their clients are imported where they are opened: half a second each, which not every root needs.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from sless.errors import InvalidSetting, Transient, WorkflowsUnavailable
from sless.settings import Settings

if TYPE_CHECKING:
    from temporalio.client import Client
    from temporalio.envconfig import ClientConnectConfig

    from sless.adapters.s3 import S3Objects
    from sless.adapters.temporal_runs import TemporalRuns

_T = TypeVar("_T")

_RETRY_SECONDS = 0.2
"""Between two tries at a part that starts at the same time as we do."""


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
        await patiently(objects.ensure_bucket, seconds=settings.deadlines.start)
        await patiently(objects.probe, seconds=settings.deadlines.start)
        yield objects
    finally:
        objects.close()


async def connect_temporal(settings: Settings) -> "Client":
    """A client by Temporal's own variables.

    Raises `WorkflowsUnavailable` after the deadline, and `InvalidSetting` for variables that name
    no server.
    """
    from temporalio.client import Client
    from temporalio.service import RPCError

    config = _read_temporal()

    async def connect() -> Client:
        try:
            return await Client.connect(**config)
        except (RPCError, RuntimeError) as error:
            where = config.get("target_host")
            raise WorkflowsUnavailable(
                f"Temporal at {where} does not answer; check TEMPORAL_ADDRESS: {error}"
            ) from error

    return await patiently(connect, seconds=settings.deadlines.start)


def _read_temporal() -> "ClientConnectConfig":
    from temporalio.envconfig import ClientConfig

    try:
        config = ClientConfig.load_client_connect_config()
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise InvalidSetting(f"What TEMPORAL_… variables name cannot be read: {error}") from error
    if not config.get("target_host"):
        raise InvalidSetting("TEMPORAL_ADDRESS must name Temporal's server, as host:port.")
    return config


def make_runs(settings: Settings, client: "Client") -> "TemporalRuns":
    """Runs on the settings' task queue, with links to Temporal UI."""
    from sless.adapters.temporal_runs import TemporalRuns

    temporal = settings.temporal
    return TemporalRuns(client, ui_url=temporal.ui_url, task_queue=temporal.task_queue)


async def patiently(call: Callable[[], Awaitable[_T]], *, seconds: float) -> _T:
    """Calls again while the other side is away, at most so long."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return await call()
        except Transient:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(_RETRY_SECONDS)
