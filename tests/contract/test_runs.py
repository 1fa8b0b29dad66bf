"""What `Runs` promises, whoever keeps them.

An adapter joins by a fixture of its name that gives a `Runs` whose function workflows run until
they are closed.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from temporalio import workflow
from temporalio.client import Client
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from sless.adapters.temporal_runs import TemporalRuns
from sless.attributes import (
    BUILD,
    BUILD_WORKFLOW,
    FUNCTION,
    FUNCTION_WORKFLOW,
    LOOK_SIGNAL,
    MEMO_ATTEMPTS,
    MEMO_GENERATION,
    MEMO_S3_KEY,
    MEMO_UID,
    NAMESPACE,
    PHASE,
)
from sless.model.function import Ask, FunctionRef
from sless.model.phase import Phase
from sless.naming import build_id, build_workflow_id, function_workflow_id
from sless.ports import Runs
from sless.ports.runs import Run, RunState
from tests.fakes.runs import FakeRuns
from tests.fixtures.waiting import until

Supersede = Callable[[FunctionRef, Ask, str], Awaitable[None]]

DEADLINE_SECONDS = 20
"""A list of runs follows its server's truth within about a second."""


@pytest.fixture
def fake() -> Runs:
    return FakeRuns()


@workflow.defn(name=FUNCTION_WORKFLOW)
class Waiting:
    """Runs until it is cancelled."""

    @workflow.signal(name=LOOK_SIGNAL)
    def look(self) -> None:
        pass

    @workflow.run
    async def run(self, _order: dict[str, Any]) -> None:
        await workflow.wait_condition(lambda: False)


@workflow.defn(name=BUILD_WORKFLOW)
class Superseded:
    """A build that ends as one does that a newer ask took the place of."""

    @workflow.run
    async def run(self) -> None:
        workflow.upsert_search_attributes([PHASE.value_set(Phase.SUPERSEDED.value)])


@pytest.fixture
async def temporal(client: Client) -> AsyncIterator[Runs]:
    queue = f"runs-{uuid4().hex[:8]}"
    async with Worker(
        client,
        task_queue=queue,
        workflows=[Waiting, Superseded],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        yield TemporalRuns(client, ui_url="http://127.0.0.1:1", task_queue=queue)


@pytest.fixture(params=["fake", pytest.param("temporal", marks=pytest.mark.real)])
def runs(request: pytest.FixtureRequest) -> Runs:
    adapter: Runs = request.getfixturevalue(request.param)
    return adapter


@pytest.fixture
def ref() -> FunctionRef:
    return FunctionRef("default", f"f-{uuid4().hex[:8]}")


@pytest.fixture
def supersede(runs: Runs, request: pytest.FixtureRequest) -> Supersede:
    """Has a build of that s3Key run, and end so."""
    if isinstance(runs, FakeRuns):
        return partial(supersede_fake, runs)
    assert isinstance(runs, TemporalRuns)
    return partial(supersede_real, request.getfixturevalue("client"), runs.task_queue)


async def supersede_fake(runs: FakeRuns, ref: FunctionRef, ask: Ask, s3_key: str) -> None:
    workflow_id = runs.start_build(ref, build_id(s3_key), ask=ask, s3_key=s3_key).workflow_id
    runs.tell(workflow_id, phase=Phase.SUPERSEDED)
    runs.end(workflow_id, RunState.CANCELLED)


async def supersede_real(
    client: Client, queue: str, ref: FunctionRef, ask: Ask, s3_key: str
) -> None:
    build = build_id(s3_key)
    names = [(NAMESPACE, ref.namespace), (FUNCTION, ref.name), (BUILD, build)]
    await client.execute_workflow(
        BUILD_WORKFLOW,
        id=build_workflow_id(ref.namespace, ref.name, build),
        task_queue=queue,
        search_attributes=TypedSearchAttributes(
            [SearchAttributePair(key, name) for key, name in names]
        ),
        memo={MEMO_UID: ask.uid, MEMO_GENERATION: ask.generation, MEMO_S3_KEY: s3_key},
    )


async def found(runs: Runs, ref: FunctionRef) -> Run:
    run = await runs.find(function_workflow_id(ref.namespace, ref.name))
    assert run is not None
    return run


async def test_a_look_starts_the_functions_run(runs: Runs, ref: FunctionRef) -> None:
    ask = Ask("uid-1", 3)
    workflow_id = await runs.look(ref, ask=ask)
    assert workflow_id == function_workflow_id(ref.namespace, ref.name)
    run = await found(runs, ref)
    assert run.workflow_id == workflow_id
    assert run.run_id
    assert run.state is RunState.RUNNING
    assert run.function == ref
    assert run.ask == ask
    assert run.started_at.endswith("Z")


async def test_a_look_needs_no_ask(runs: Runs, ref: FunctionRef) -> None:
    await runs.look(ref)
    assert (await found(runs, ref)).state is RunState.RUNNING


async def test_looks_at_once_make_one_run(runs: Runs, ref: FunctionRef) -> None:
    await asyncio.gather(*(runs.look(ref) for _ in range(20)))
    first = await found(runs, ref)
    await runs.look(ref)
    assert (await found(runs, ref)).run_id == first.run_id


async def test_what_never_ran_is_not_found(runs: Runs, ref: FunctionRef) -> None:
    assert await runs.find(function_workflow_id(ref.namespace, ref.name)) is None


async def until_listed(runs: Runs, ref: FunctionRef, *, listed: bool) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while any(run.function == ref for run in await runs.running()) is not listed:  # noqa: ASYNC110 - a server's truth
            await asyncio.sleep(0.05)


async def test_running_lists_a_run_until_it_is_closed(runs: Runs, ref: FunctionRef) -> None:
    workflow_id = await runs.look(ref)
    await until_listed(runs, ref, listed=True)
    await runs.close(workflow_id)
    await until_listed(runs, ref, listed=False)


@pytest.mark.real
async def test_runs_that_a_hand_started_hide_no_others(client: Client, ref: FunctionRef) -> None:
    queue = f"hand-{uuid4().hex}"
    runs = TemporalRuns(client, ui_url="http://ui", task_queue=queue)
    told = {NAMESPACE: ref.namespace, FUNCTION: ref.name, PHASE: "Odd"}
    pairs = [SearchAttributePair(key, value) for key, value in told.items()]
    own, odd = function_workflow_id(ref.namespace, ref.name), f"by hand {queue}"
    handles = [
        await client.start_workflow(
            FUNCTION_WORKFLOW,
            id=workflow_id,
            task_queue=queue,
            search_attributes=TypedSearchAttributes(pairs),
            memo={MEMO_UID: "u", MEMO_GENERATION: "many", MEMO_ATTEMPTS: "some"},
        )
        for workflow_id in (odd, own)
    ]
    await until_listed(runs, ref, listed=True)
    [listed] = [run for run in await runs.running() if run.function == ref]
    assert (listed.workflow_id, listed.phase, listed.ask, listed.attempts) == (own, None, None, 0)
    for handle in handles:
        await handle.terminate()


async def test_superseded_lists_such_builds_alone_the_newest_first(
    runs: Runs, ref: FunctionRef, supersede: Supersede
) -> None:
    assert await runs.superseded(ref) == []
    await runs.look(ref)
    asks = {f"functions/{ref}/{n}.zip": Ask("uid-1", n) for n in (1, 2)}
    for s3_key, ask in asks.items():
        await supersede(ref, ask, s3_key)
    await supersede(FunctionRef("default", f"{ref.name}-2"), Ask("uid-2", 1), "another.zip")

    async def listed() -> bool:
        return len(await runs.superseded(ref)) == len(asks)

    await until(listed, seconds=DEADLINE_SECONDS)
    listed_runs = await runs.superseded(ref)
    assert [(run.s3_key, run.ask) for run in listed_runs] == list(reversed(asks.items()))
    for run in listed_runs:
        assert run.build == build_id(run.s3_key)
        assert (run.function, run.phase) == (ref, Phase.SUPERSEDED)
        assert run.state is not RunState.RUNNING
        assert run.started_at <= run.ended_at
        assert run.ended_at.endswith("Z")


async def test_close_waits_for_the_end(runs: Runs, ref: FunctionRef) -> None:
    workflow_id = await runs.look(ref)
    await runs.close(workflow_id)
    assert (await found(runs, ref)).state is RunState.CANCELLED


async def test_a_look_after_the_end_starts_a_new_run(runs: Runs, ref: FunctionRef) -> None:
    workflow_id = await runs.look(ref)
    first = await found(runs, ref)
    await runs.close(workflow_id)
    await runs.look(ref)
    second = await found(runs, ref)
    assert second.state is RunState.RUNNING
    assert second.run_id != first.run_id


async def test_closing_what_does_not_run_is_no_error(runs: Runs, ref: FunctionRef) -> None:
    await runs.close(function_workflow_id(ref.namespace, ref.name))
    workflow_id = await runs.look(ref)
    await runs.close(workflow_id)
    await runs.close(workflow_id)


def test_a_page_names_the_run_in_one_path_segment(runs: Runs) -> None:
    page = runs.url("function/default/hello")
    assert page.startswith("http")
    assert page.endswith("/workflows/function%2Fdefault%2Fhello")
    assert runs.url("function/default/hello", "run-1").startswith(f"{page}/run-1")
