"""A build of another version of ours, whose report this one cannot read."""

from typing import Any

import pytest
from temporalio import workflow
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from activities.failures import Failures
from sless import attributes
from sless.model.phase import Phase
from tests.workflow.rig import Rig
from workflows.function import FunctionWorkflow

pytestmark = pytest.mark.real


@workflow.defn(name=attributes.BUILD_WORKFLOW, sandboxed=False)  # its file imports the rig
class OtherBuild:
    """It fails as builds do."""

    @workflow.run
    async def run(self, _order: Any) -> None:
        """With a report of a form that there is not."""
        raise ApplicationError("six>=99", ["steps"], type="BuildFailed", non_retryable=True)


async def test_its_failure_is_the_asks_all_the_same(rig: Rig) -> None:
    worker = Worker(
        rig.client,
        task_queue=rig.task_queue,
        workflows=[FunctionWorkflow, OtherBuild],
        activities=rig.pipeline().activities(),
        interceptors=[Failures()],
    )
    async with worker:
        outcome = await rig.outcome(await rig.ask(await rig.upload()))
        await rig.ended()
    assert (outcome.phase, outcome.reason, outcome.message) == (
        Phase.FAILED,
        "BuildFailed",
        "six>=99",
    )
    assert (outcome.attempts, outcome.steps) == (0, ())
