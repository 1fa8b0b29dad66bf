"""The build that a function workflow has started, and how it fares."""

import asyncio

from temporalio import workflow
from temporalio.common import (
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDReusePolicy,
)
from temporalio.converter import value_to_type
from temporalio.exceptions import (
    ApplicationError,
    ChildWorkflowError,
    TerminatedError,
    is_cancelled_exception,
)

with workflow.unsafe.imports_passed_through():
    from sless import attributes
    from sless.decide.next_step import Child, ChildState
    from sless.errors import InternalError
    from sless.model.function import Function
    from sless.model.phase import Phase
    from sless.naming import build_id, build_workflow_id
    from workflows.build import BuildWorkflow
    from workflows.messages import BuildOrder, BuildReport


class ChildBuild:
    """One run of a build; its end is noted the moment it is known."""

    def __init__(
        self, order: BuildOrder, handle: workflow.ChildWorkflowHandle[BuildWorkflow, BuildReport]
    ) -> None:
        self._order = order
        self._handle = handle
        self.run_id = handle.first_execution_run_id or ""
        self.report = BuildReport(build=build_id(order.s3_key))
        self.state = ChildState.RUNNING
        self._reason = ""
        self._message = ""
        self._watch = asyncio.create_task(self._follow())

    @property
    def running(self) -> bool:
        """Whether its end is not known yet."""
        return self.state is ChildState.RUNNING

    def view(self) -> Child:
        """What the decision needs of it."""
        order = self._order
        return Child(
            uid=order.uid,
            generation=order.generation,
            s3_key=order.s3_key,
            state=self.state,
            reason=self._reason,
            message=self._message,
        )

    async def stop(self, reason: str) -> None:
        """Cancels it, saying why, and waits for its end."""
        if self.running:
            await self._handle.signal(BuildWorkflow.ending, reason)
        if self.running:
            self._handle.cancel()
        await workflow.wait_condition(lambda: not self.running)

    async def _follow(self) -> None:
        try:
            self.report = await self._handle
            self.state = ChildState.SUCCEEDED
        except (ChildWorkflowError, asyncio.CancelledError) as error:
            self._note(error)

    def _note(self, error: BaseException) -> None:
        cause = error.cause if isinstance(error, ChildWorkflowError) else None
        if is_cancelled_exception(error):
            self.state = ChildState.CANCELLED
            return
        self._message = str(cause or error)
        if isinstance(cause, TerminatedError):
            self.state = ChildState.TERMINATED
            return
        self._reason = InternalError.reason
        if isinstance(cause, ApplicationError):
            self._reason, self._message = cause.type or self._reason, cause.message
            self.report = _find_report(cause) or self.report
        self.state = ChildState.FAILED


def _find_report(failure: ApplicationError) -> BuildReport | None:
    """What the build did; None where another version of ours tells it in a form of its own."""
    try:
        report: BuildReport = value_to_type(BuildReport, failure.details[0])
    except (LookupError, TypeError, ValueError):
        return None
    return report


async def start_build(function: Function) -> ChildBuild:
    """Starts the build that a Function asks for.

    Raises `WorkflowAlreadyStartedError` when a build of that id is under way that is not ours.
    """
    spec = function.spec
    build = build_id(spec.s3_key)
    order = BuildOrder(function.ref, function.uid, function.generation, spec.s3_key)
    handle = await workflow.start_child_workflow(
        BuildWorkflow.run,
        order,
        id=build_workflow_id(function.namespace, function.name, build),
        parent_close_policy=workflow.ParentClosePolicy.REQUEST_CANCEL,
        cancellation_type=workflow.ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        search_attributes=_attributes(function, build),
        memo={
            attributes.MEMO_UID: function.uid,
            attributes.MEMO_GENERATION: function.generation,
            attributes.MEMO_S3_KEY: spec.s3_key,
        },
        static_summary=f"Build {build} of {function.ref} for {spec.runtime}",
        static_details=f"Zip: `{spec.s3_key}`\n\nAsk: generation {function.generation}",
    )
    return ChildBuild(order, handle)


def _attributes(function: Function, build: str) -> TypedSearchAttributes:
    """Given at each start: a restarted id does not keep them."""
    return TypedSearchAttributes(
        [
            SearchAttributePair(attributes.NAMESPACE, function.namespace),
            SearchAttributePair(attributes.FUNCTION, function.name),
            SearchAttributePair(attributes.BUILD, build),
            SearchAttributePair(attributes.RUNTIME, function.spec.runtime),
            SearchAttributePair(attributes.GENERATION, function.generation),
            SearchAttributePair(attributes.PHASE, Phase.PENDING.value),
            SearchAttributePair(attributes.REASON, Phase.PENDING.value),
        ]
    )
