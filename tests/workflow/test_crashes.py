"""Workers that are killed, paused or replaced; histories that are replayed."""

import json
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from sless.model.phase import Phase
from sless.naming import build_id
from tests.fakes.builder import Hang
from tests.workflow.rig import Rig
from workflows.build import BuildWorkflow
from workflows.function import FunctionWorkflow

pytestmark = pytest.mark.real


async def test_without_a_cache_every_task_replays_the_whole_history(rig: Rig) -> None:
    """Eviction after each task: what is not deterministic, or not safe to evict, shows."""
    rig.builder.scripts.append(Hang())
    async with rig.worker(max_cached_workflows=0):
        slow = await rig.upload("a = 1")
        function = await rig.ask(slow)
        await rig.job()
        await rig.handle().cancel()
        assert (await rig.outcome(function)).phase is Phase.CANCELLED
        fast = await rig.upload("b = 1")
        assert (await rig.outcome(await rig.ask(fast))).phase is Phase.READY
        await rig.ended()
    assert await rig.serving() == build_id(fast)


async def test_a_worker_that_leaves_hands_its_build_on(rig: Rig) -> None:
    rig.builder.scripts.append(Hang())
    async with rig.worker():
        function = await rig.ask(await rig.upload())
        nonce = await rig.job()
    assert rig.builder.deleted == []
    async with rig.worker():
        rig.builder.release(nonce)
        outcome = await rig.outcome(function)
    assert (outcome.phase, outcome.attempts) == (Phase.READY, 1)
    assert rig.builder.created == {nonce: 1}


async def test_histories_replay(rig: Rig) -> None:
    rig.builder.scripts.extend([Hang()])
    async with rig.worker():
        slow, fast = await rig.upload("a = 1"), await rig.upload("b = 1")
        await rig.ask(slow)
        await rig.job()
        await rig.outcome(await rig.ask(fast))
        await rig.ended()
        histories = [
            await handle.fetch_history()
            for handle in (rig.handle(), rig.build_handle(slow), rig.build_handle(fast))
        ]
    replayer = Replayer(workflows=[FunctionWorkflow, BuildWorkflow])
    for history in histories:
        await replayer.replay_workflow(history)


RELEASED = sorted(Path(__file__).parent.glob("histories/*/*.json"))


def test_there_are_released_histories() -> None:
    assert {path.parent.name for path in RELEASED} >= {"0.1.0"}


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: f"{path.parent.name}-{path.stem}")
async def test_every_released_history_replays(path: Path) -> None:
    recorded = json.loads(path.read_text())
    history = WorkflowHistory.from_json(recorded["workflow_id"], recorded["history"])
    await Replayer(workflows=[FunctionWorkflow, BuildWorkflow]).replay_workflow(history)
