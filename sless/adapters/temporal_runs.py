"""Workflow runs on a real Temporal server."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionStatus,
    WorkflowFailureError,
)
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.service import RPCError, RPCStatusCode

from sless import attributes
from sless.errors import InvalidName, WorkflowsUnavailable
from sless.model.function import Ask, FunctionRef
from sless.model.phase import Phase
from sless.model.times import rfc3339_millis
from sless.naming import (
    build_workflow_id,
    check_name,
    check_namespace,
    function_workflow_id,
)
from sless.ports.runs import Run, RunState

RPC_SECONDS = timedelta(seconds=10)
"""A server that does not answer within this is away; the callers come back."""
RUNNING_QUERY = (
    f"ExecutionStatus = 'Running' AND "
    f"WorkflowType IN ('{attributes.FUNCTION_WORKFLOW}', '{attributes.BUILD_WORKFLOW}')"
)

SUPERSEDED_QUERY = (
    f"WorkflowType = '{attributes.BUILD_WORKFLOW}' "
    f"AND {attributes.PHASE.name} = '{Phase.SUPERSEDED}' "
    f"AND {attributes.NAMESPACE.name} = '{{namespace}}' "
    f"AND {attributes.FUNCTION.name} = '{{name}}'"
)
"""Names of both kinds are letters, digits and hyphens: there is nothing to quote."""
SUPERSEDED_MOST = 500
"""No more of them are listed: as many as a page of builds may hold."""


class TemporalRuns:
    """Starts by names alone, so that no workflow code is imported here."""

    def __init__(
        self, client: Client, *, ui_url: str, task_queue: str = attributes.TASK_QUEUE
    ) -> None:
        self._client = client
        self._ui_url = ui_url.rstrip("/")
        self.task_queue = task_queue

    async def look(self, function: FunctionRef, *, ask: Ask | None = None) -> str:
        """One call that starts the run or signals the one under way; nothing gets lost."""
        workflow_id = function_workflow_id(function.namespace, function.name)
        with _translated():
            await self._client.start_workflow(
                attributes.FUNCTION_WORKFLOW,
                {"function": asdict(function), "ask": asdict(ask) if ask else None},
                id=workflow_id,
                task_queue=self.task_queue,
                start_signal=attributes.LOOK_SIGNAL,
                search_attributes=_attributes(function, ask),
                memo=_memo(ask),
                static_summary=f"Asks of {function}",
                rpc_timeout=RPC_SECONDS,
            )
        return workflow_id

    async def running(self) -> Sequence[Run]:
        """By one list, eventually consistent within about a second."""
        with _translated():
            found = self._client.list_workflows(
                RUNNING_QUERY, page_size=1000, rpc_timeout=RPC_SECONDS
            )
            runs = [await _run(execution) async for execution in found]
        return [run for run in runs if _is_ours(run)]

    async def superseded(self, function: FunctionRef) -> Sequence[Run]:
        """By one list, likewise; as long as the namespace keeps closed runs."""
        query = SUPERSEDED_QUERY.format(namespace=function.namespace, name=function.name)
        with _translated():
            found = self._client.list_workflows(
                query, limit=SUPERSEDED_MOST, rpc_timeout=RPC_SECONDS
            )
            runs = [await _run(execution) async for execution in found]
        return sorted(runs, key=lambda run: run.started_at, reverse=True)

    async def find(self, workflow_id: str) -> Run | None:
        """By describe, which is exact."""
        with _translated():
            try:
                handle = self._client.get_workflow_handle(workflow_id)
                return await _run(await handle.describe(rpc_timeout=RPC_SECONDS))
            except RPCError as error:
                if error.status is RPCStatusCode.NOT_FOUND:
                    return None
                raise

    async def close(self, workflow_id: str) -> None:
        """Waits as long as the run takes to clean up."""
        with _translated():
            handle = self._client.get_workflow_handle(workflow_id)
            try:
                await handle.cancel(rpc_timeout=RPC_SECONDS)
                await handle.result()
            except WorkflowFailureError:
                return
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise

    def url(self, workflow_id: str, run_id: str = "") -> str:
        """The run's page, or without a run id the newest run's."""
        namespace = quote(self._client.namespace, safe="")
        page = f"{self._ui_url}/namespaces/{namespace}/workflows/{quote(workflow_id, safe='')}"
        return f"{page}/{run_id}/timeline" if run_id else page


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (RPCError, TimeoutError) as error:
        raise WorkflowsUnavailable(f"Temporal does not answer: {error}.") from error


def _attributes(function: FunctionRef, ask: Ask | None) -> TypedSearchAttributes:
    """Given at each start: a restarted id does not keep them."""
    pairs: list[SearchAttributePair[Any]] = [
        SearchAttributePair(attributes.NAMESPACE, function.namespace),
        SearchAttributePair(attributes.FUNCTION, function.name),
        SearchAttributePair(attributes.PHASE, Phase.PENDING.value),
        SearchAttributePair(attributes.REASON, Phase.PENDING.value),
    ]
    if ask is not None:
        pairs.append(SearchAttributePair(attributes.GENERATION, ask.generation))
    return TypedSearchAttributes(pairs)


def _memo(ask: Ask | None) -> Mapping[str, Any]:
    if ask is None:
        return {}
    return {attributes.MEMO_UID: ask.uid, attributes.MEMO_GENERATION: ask.generation}


async def _run(execution: WorkflowExecution) -> Run:
    found = execution.typed_search_attributes
    memo = await execution.memo()
    state = execution.status or WorkflowExecutionStatus.RUNNING
    phase = _value(found, attributes.PHASE)
    return Run(
        workflow_id=execution.id,
        run_id=execution.run_id,
        state=_STATES[state],
        function=FunctionRef(
            _value(found, attributes.NAMESPACE), _value(found, attributes.FUNCTION)
        ),
        ask=_ask(memo),
        build=_value(found, attributes.BUILD),
        phase=Phase(phase) if phase in set(Phase) else None,
        reason=_value(found, attributes.REASON),
        message=str(memo.get(attributes.MEMO_MESSAGE) or ""),
        attempts=_number(memo.get(attributes.MEMO_ATTEMPTS)),
        started_at=rfc3339_millis(execution.start_time),
        ended_at=rfc3339_millis(execution.close_time) if execution.close_time else "",
        s3_key=str(memo.get(attributes.MEMO_S3_KEY) or ""),
    )


def _value(found: TypedSearchAttributes, key: SearchAttributeKey[str]) -> str:
    return found.get(key) or ""


def _ask(memo: Mapping[str, Any]) -> Ask | None:
    uid, generation = memo.get(attributes.MEMO_UID), _number(memo.get(attributes.MEMO_GENERATION))
    return Ask(str(uid), generation) if uid and generation else None


def _number(told: object) -> int:
    """0 for what a hand that started a run wrote there instead."""
    return told if isinstance(told, int) else 0


def _is_ours(run: Run) -> bool:
    """Whether its id is that of the function it tells: a hand may start a run by any other."""
    function = run.function
    try:
        check_namespace(function.namespace)
        check_name(function.name)
    except InvalidName:
        return False
    return run.workflow_id in {
        function_workflow_id(function.namespace, function.name),
        build_workflow_id(function.namespace, function.name, run.build),
    }


_STATES = {
    WorkflowExecutionStatus.RUNNING: RunState.RUNNING,
    WorkflowExecutionStatus.COMPLETED: RunState.COMPLETED,
    WorkflowExecutionStatus.FAILED: RunState.FAILED,
    WorkflowExecutionStatus.CANCELED: RunState.CANCELLED,
    WorkflowExecutionStatus.TERMINATED: RunState.TERMINATED,
    WorkflowExecutionStatus.TIMED_OUT: RunState.TIMED_OUT,
    WorkflowExecutionStatus.CONTINUED_AS_NEW: RunState.CONTINUED,
}
