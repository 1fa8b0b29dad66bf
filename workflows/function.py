"""The one place that answers a function's asks: looks, decides, does one step, looks again."""

import asyncio
from contextlib import suppress
from datetime import datetime

from temporalio import workflow
from temporalio.exceptions import (
    ActivityError,
    WorkflowAlreadyStartedError,
    is_cancelled_exception,
)

with workflow.unsafe.imports_passed_through():
    from activities.look_around import Looking
    from activities.messages import (
        CleanUpDeployment,
        CloseBuild,
        LookAround,
        PutBackGood,
        RecordOutcome,
        RollOutImage,
    )
    from activities.record_outcome import Recording
    from activities.roll_out import RollingOut
    from sless import attributes
    from sless.decide.next_step import (
        AskRegistry,
        AwaitBuild,
        Build,
        CleanUp,
        Finish,
        Heard,
        NextStep,
        NoteRepairFailed,
        PutBack,
        Record,
        RollOut,
        Seen,
        StopBuild,
        Unknown,
        answers,
        next_step,
    )
    from sless.errors import Cancelled, error_for
    from sless.model.deployment import Deployment
    from sless.model.function import Ask, Function
    from sless.model.phase import Phase
    from sless.naming import build_id, build_workflow_id
    from workflows.child import ChildBuild, start_build
    from workflows.failures import is_defect, told
    from workflows.messages import FunctionOrder, FunctionReport
    from workflows.options import FOLLOWING, QUICK, pause_before_asking
    from workflows.outcomes import outcome_of
    from workflows.story import tell_ask, tell_phase


@workflow.defn(name=attributes.FUNCTION_WORKFLOW)
class FunctionWorkflow:
    """Level-triggered and single-threaded: what it knows it has just read.

    A cancellation of the run is one more thing heard, meant for the ask that had been read.
    """

    @workflow.init
    def __init__(self, order: FunctionOrder) -> None:
        self._order = order
        self._looked = False
        self._read: Function | None = None
        self._seen = Seen(None)
        self._pinned: Function | None = None
        """The Function as it was read when something happened that is meant for it alone."""
        self._cancelled: Ask | None = None
        self._spent = False
        """Whether this run was cancelled: Temporal would not tell it a second time."""
        self._child: ChildBuild | None = None
        self._refused: tuple[Ask, Record] | None = None
        """A step that ended without a note on the Deployment, and what that makes of its ask."""
        self._away_since: datetime | None = None
        """When the registry was first seen away, if it still is."""
        self._answered: tuple[str, ...] = ()

    @workflow.signal(name=attributes.LOOK_SIGNAL, description="The Function may have changed")
    def look(self) -> None:
        """Read the Function again."""
        self._looked = True

    @workflow.run
    async def run(self, order: FunctionOrder) -> FunctionReport:  # noqa: ARG002  # taken by __init__
        """Ends when nothing is left to do; ends Cancelled when a person cancelled it."""
        work = asyncio.create_task(self._work())
        while True:
            try:
                await asyncio.shield(work)
            except asyncio.CancelledError:
                if work.done():
                    raise
                self._hear_cancel()
            else:
                break
        if self._spent:
            raise asyncio.CancelledError
        return FunctionReport(self._answered)

    def _hear_cancel(self) -> None:
        self._spent = True
        self._cancelled = self._read.ask if self._read is not None else self._order.ask
        self._pinned = self._read

    async def _work(self) -> None:
        while True:
            step = await self._decide()
            if isinstance(step, Finish):
                if self._pinned is None and not self._looked:
                    return
                self._forget()
            else:
                self._refresh()
                await self._do(step)

    async def _decide(self) -> NextStep:
        self._looked = False
        pinned = self._pinned
        seen = await workflow.execute_activity_method(
            Looking.look_around,
            LookAround(self._order.function, pinned),
            summary="Look at the Function and at what there is of it",
            **QUICK,
        )
        if self._pinned is not pinned:
            return await self._decide()
        self._take(seen)
        child = self._child.view() if self._child is not None else None
        return self._unless_refused(next_step(seen, child=child, heard=Heard(self._cancelled)))

    def _unless_refused(self, step: NextStep) -> NextStep:
        """What a quota, a policy or the registry refused is tried once for an ask.

        One that puts an answered ask's drift right is the watcher's to have tried again.
        """
        if not isinstance(step, RollOut | AskRegistry) or self._refused is None:
            return step
        ask, verdict = self._refused
        if ask != self._function.ask:
            return step
        return verdict if self._seen.outcome is None else Finish()

    def _take(self, seen: Seen) -> None:
        function = seen.function
        if function is not None and (self._read is None or self._read.ask != function.ask):
            tell_ask(function, build=build_id(function.spec.s3_key))
            tell_phase(Phase.PENDING if seen.outcome is None else seen.outcome.phase)
        if function is None or function.ask != self._cancelled:
            # Whoever overtook the cancelled ask was not meant.
            self._cancelled = None
        if seen.unknown is None:
            self._away_since = None
        self._read, self._seen = function, seen

    def _forget(self) -> None:
        """What was meant for one ask alone is settled: the newest Function counts again."""
        self._pinned = self._cancelled = None

    def _refresh(self) -> None:
        """Between two things to do is the time for a new run, if this one is long or spent."""
        if self._child is not None or self._pinned is not None or self._cancelled is not None:
            return
        if self._spent or workflow.info().is_continue_as_new_suggested():
            workflow.continue_as_new(FunctionOrder(self._order.function))

    async def _do(self, step: NextStep) -> None:
        match step:
            case Build():
                await self._build()
            case AwaitBuild():
                await self._await_build()
            case StopBuild(reason):
                await self._stop_build(reason)
            case AskRegistry(unknown):
                await self._ask_registry(unknown)
            case RollOut(image):
                await self._roll_out(image)
            case PutBack(reason, message):
                await self._put_back(reason, message)
            case Record():
                await self._record(step)
            case NoteRepairFailed(reason, message):
                await self._record(Record(Phase.FAILED, reason, message), repair=True)
            case CleanUp(deployment):
                await self._clean_up(deployment)

    @property
    def _function(self) -> Function:
        """The Function as last read; only steps that concern one ask for it."""
        if self._read is None:
            raise AssertionError("a step for a Function that is gone")
        return self._read

    async def _build(self) -> None:
        function = self._function
        try:
            self._child = await start_build(function)
        except WorkflowAlreadyStartedError:
            # Left by a run that was terminated; it is being cancelled.
            await self._close_foreign(function)
            return
        tell_phase(Phase.BUILDING, message=f"Build {build_id(function.spec.s3_key)} is under way.")

    async def _close_foreign(self, function: Function) -> None:
        build = build_id(function.spec.s3_key)
        workflow_id = build_workflow_id(function.namespace, function.name, build)
        await workflow.execute_activity_method(
            Recording.close_build,
            CloseBuild(workflow_id),
            summary=f"End {workflow_id}, which another run started",
            **FOLLOWING,
        )

    async def _await_build(self) -> None:
        child = self._child
        if child is None:
            raise AssertionError("waiting for a build that was not started")
        await workflow.wait_condition(
            lambda: self._looked or self._pinned is not None or not child.running
        )
        if answers(child.view(), self._function.ask):
            # Its end answers the ask that had been read; a newer one is answered after that.
            self._pinned = self._pinned or self._read

    async def _stop_build(self, reason: str) -> None:
        child = self._child
        if child is None:
            raise AssertionError("stopping a build that was not started")
        await child.stop(reason)
        if reason == Cancelled.reason:
            self._pinned = self._pinned or self._read
        else:
            self._child = None

    async def _ask_registry(self, unknown: Unknown) -> None:
        """Waits to look again; a registry that stays away, or refuses us, is the ask's end."""
        self._away_since = self._away_since or workflow.now()
        pause = pause_before_asking(workflow.now() - self._away_since)
        reason, message = unknown.reason, unknown.message
        if pause is None or not error_for(reason, message).retryable:
            self._refused = (self._function.ask, Record(Phase.FAILED, reason, message))
            return
        tell_phase(Phase.PENDING, reason=reason, message=f"{message} It is asked again.")
        with suppress(TimeoutError):
            await workflow.wait_condition(
                lambda: self._looked or self._pinned is not None,
                timeout=pause,
                timeout_summary=f"{reason}: asked again in {pause.total_seconds():.0f} s",
            )

    async def _roll_out(self, image: str) -> None:
        function = self._function
        tell_phase(Phase.DEPLOYING, message=f"Rolling out {image}.")
        rollout = workflow.start_activity_method(
            RollingOut.roll_out,
            RollOutImage(function.ref, function.uid, function.spec.s3_key, image),
            summary=image,
            **FOLLOWING,
        )
        await workflow.wait_condition(lambda: self._pinned is not None or rollout.done())
        if not rollout.done():
            rollout.cancel()
        try:
            await rollout
        except ActivityError as error:
            if is_cancelled_exception(error):
                return
            if is_defect(error):
                raise
            # The Deployment's note, or the Function itself, tells what to do next; or nothing does.
            self._refused = (function.ask, Record(Phase.FAILED, *told(error)))

    async def _put_back(self, reason: str, message: str) -> None:
        function = self._function
        await workflow.execute_activity_method(
            RollingOut.put_back,
            PutBackGood(function.ref, function.ask, reason, message),
            summary=f"Put the last good revision back: {reason}",
            **QUICK,
        )

    async def _clean_up(self, deployment: Deployment) -> None:
        await workflow.execute_activity_method(
            RollingOut.clean_up,
            CleanUpDeployment(deployment),
            summary="The Function is gone: delete its Deployment",
            **QUICK,
        )

    async def _record(self, verdict: Record, *, repair: bool = False) -> None:
        function = self._function
        outcome = outcome_of(function, verdict=verdict, seen=self._seen, child=self._child)
        standing = await workflow.execute_activity_method(
            Recording.record_outcome,
            RecordOutcome(outcome, repair=repair),
            summary=f"Generation {function.generation}: {verdict.phase} {verdict.reason}",
            **QUICK,
        )
        tell_phase(standing.phase, reason=standing.reason, message=standing.message)
        why = f", {standing.reason}" if standing.reason != standing.phase else ""
        line = f"generation {function.generation}: {standing.phase}{why}"
        self._answered = (*self._answered, line)
        self._child = None
        self._forget()
