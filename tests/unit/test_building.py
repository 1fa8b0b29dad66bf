"""The activity that follows a build's Job, in Temporal's own test environment."""

import asyncio
from dataclasses import replace

import pytest
from temporalio.activity import ActivityCancellationDetails
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.build_image import Building
from activities.messages import BuildImage
from activities.pacing import Pace
from sless.errors import RunnerUnavailable
from sless.model.attempt import Attempt, AttemptStatus
from sless.model.function import FunctionRef
from sless.naming import S3Key
from tests.fakes.builder import FakeBuilder, Hang
from tests.fakes.images import FakeImages
from tests.fakes.objects import MemoryObjects
from tests.fakes.runs import FakeRuns

ORDER = BuildImage(
    function=FunctionRef("ns", "hello"),
    uid="uid",
    s3_key=str(S3Key("ns", "hello", "0" * 64, "python3.11")),
    nonce="nonce",
    context_sha256="1" * 64,
)


class BusyBuilder(FakeBuilder):
    """Its Jobs hang, and it gets to a deletion only when it is asked again."""

    def __init__(self) -> None:
        super().__init__(FakeImages(), otherwise=Hang())
        self.begun = asyncio.Event()
        self.asked = 0

    async def status(self, attempt: Attempt) -> AttemptStatus:
        """See the port."""
        self.begun.set()
        return await super().status(attempt)

    async def delete(self, attempt: Attempt) -> None:
        """See the port."""
        self.asked += 1
        if self.asked == 1:
            raise RunnerUnavailable("The runner does not get to it.")
        await super().delete(attempt)


async def cancel_build(builder: BusyBuilder, details: ActivityCancellationDetails) -> None:
    """Cancels the activity while it follows its Job."""
    building = Building(builder, FakeImages(), MemoryObjects(), FakeRuns(), pace=Pace(0.01))
    environment = ActivityEnvironment()
    task = asyncio.create_task(environment.run(building.build_image, ORDER))
    async with asyncio.timeout(10):
        await builder.begun.wait()
    environment.cancel(details)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_job_that_was_there_and_is_gone_is_not_made_again() -> None:
    builder = FakeBuilder(FakeImages(), otherwise=Hang())
    building = Building(builder, FakeImages(), MemoryObjects(), FakeRuns(), pace=Pace(0.01))
    told = asyncio.Queue[str]()

    def note(*words: str) -> None:
        for word in words:
            told.put_nowait(word)

    first = ActivityEnvironment()
    first.on_heartbeat = note
    task = asyncio.create_task(first.run(building.build_image, ORDER))
    async with asyncio.timeout(10):
        word = await told.get()
    first.worker_shutdown()
    with pytest.raises(ApplicationError, match="another one goes on"):
        await task
    assert builder.jobs.pop(ORDER.nonce)
    second = ActivityEnvironment()
    second.info = replace(second.info, heartbeat_details=[word])
    with pytest.raises(ApplicationError) as raised:
        await second.run(building.build_image, ORDER)
    assert raised.value.type == "BuildLost"
    assert ORDER.nonce not in builder.jobs


async def test_a_cancelled_build_asks_until_its_job_has_ended() -> None:
    builder = BusyBuilder()
    await cancel_build(builder, ActivityCancellationDetails(cancel_requested=True))
    assert builder.deleted == [ORDER.nonce]


async def test_a_job_goes_on_when_only_the_worker_leaves() -> None:
    builder = BusyBuilder()
    await cancel_build(builder, ActivityCancellationDetails(worker_shutdown=True))
    assert ORDER.nonce in builder.jobs
