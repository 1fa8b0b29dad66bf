"""The composition root of the Temporal worker: `python -m worker`."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from temporalio.client import Client
from temporalio.worker import Worker

from activities.build_image import Building
from activities.failures import Failures
from activities.images import Imaging
from activities.look_around import Looking
from activities.prepare_context import Preparing
from activities.record_outcome import Recording
from activities.roll_out import RollingOut
from sless.readiness import tell_ready
from sless.roots.archive_limits import archive_limits
from sless.roots.connect import connect_temporal, make_runs, open_objects, patiently
from sless.roots.pipeline_ports import PipelinePorts
from sless.roots.process import run_role
from sless.roots.temporal_namespace import ensure_attributes, ensure_retention
from sless.settings import Settings
from workflows.build import BuildWorkflow
from workflows.function import FunctionWorkflow

GRACE = timedelta(seconds=5)
"""For activities to notice that the worker leaves: those that wait do so within a poll."""
CONCURRENT_ACTIVITIES = 1000
"""Nearly all only wait for a Job; fewer places would let waiting builds keep out short calls."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The activities, with their ports."""

    looking: Looking
    preparing: Preparing
    building: Building
    imaging: Imaging
    rolling_out: RollingOut
    recording: Recording

    def activities(self) -> list[Callable[..., Any]]:
        """All of them."""
        return [
            self.looking.look_around,
            self.preparing.prepare_context,
            self.building.build_image,
            self.imaging.find_image,
            self.imaging.promote_image,
            self.imaging.check_wanted,
            self.rolling_out.roll_out,
            self.rolling_out.put_back,
            self.rolling_out.clean_up,
            self.recording.record_outcome,
            self.recording.close_build,
        ]


def make_worker(client: Client, pipeline: Pipeline, *, task_queue: str, **options: Any) -> Worker:
    """A worker that runs the whole pipeline; `options` are the SDK's."""
    return Worker(
        client,
        task_queue=task_queue,
        workflows=[FunctionWorkflow, BuildWorkflow],
        activities=pipeline.activities(),
        interceptors=[Failures()],
        graceful_shutdown_timeout=GRACE,
        max_concurrent_activities=CONCURRENT_ACTIVITIES,
        # A beat is sent at most so late: it carries the news of a cancellation.
        max_heartbeat_throttle_interval=timedelta(seconds=3),
        default_heartbeat_throttle_interval=timedelta(seconds=3),
        # A killed worker's cached workflows go to another one after this, not after 10 s.
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=2),
        **options,
    )


async def work(settings: Settings) -> None:
    """Runs the pipeline until it is cancelled; then its activities leave, each within a poll."""
    client = await connect_temporal(settings)
    await _prepare_namespace(settings, client)
    async with open_pipeline(settings, client) as pipeline:
        worker = make_worker(client, pipeline, task_queue=settings.temporal.task_queue)
        async with worker:
            tell_ready(settings)
            await asyncio.Event().wait()


async def _prepare_namespace(settings: Settings, client: Client) -> None:
    if settings.home == "embedded":
        await ensure_retention(client)
    else:
        # Of workers that register at the same time only one succeeds; the others find them there.
        await patiently(partial(ensure_attributes, client), seconds=settings.deadlines.start)


@asynccontextmanager
async def open_pipeline(settings: Settings, client: Client) -> AsyncIterator[Pipeline]:
    """The pipeline of the settings' home."""
    async with open_objects(settings) as objects, _open_ports(settings) as home:
        runs = make_runs(settings, client)
        yield Pipeline(
            looking=Looking(home.functions, home.deployments, home.images, objects),
            preparing=Preparing(
                objects,
                home.runtimes,
                home.runtime_files,
                archive_limits(settings.limits),
            ),
            building=Building(
                home.builder,
                home.images,
                objects,
                runs,
                deadline_seconds=settings.deadlines.build,
            ),
            imaging=Imaging(home.functions, home.images),
            rolling_out=RollingOut(home.functions, home.deployments),
            recording=Recording(objects, runs),
        )


def _open_ports(settings: Settings) -> AbstractAsyncContextManager[PipelinePorts]:
    # Each home's clients take their time and memory to import: the other's are left alone.
    if settings.home == "kubernetes":
        from sless.cluster.pipeline import open_ports
    else:
        from sless.local.pipeline import open_ports
    return open_ports(settings)


if __name__ == "__main__":
    run_role(work, part="worker")
