"""One s3Key's build: context, attempts at an image, promotion, rollout."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.build_image import Building
    from activities.images import Imaging
    from activities.messages import (
        BuildImage,
        BuiltImage,
        FindImage,
        PrepareContext,
        PreparedContext,
        PromoteImage,
        RollOutImage,
        StillWanted,
    )
    from activities.prepare_context import Preparing
    from activities.roll_out import RollingOut
    from sless import attributes
    from sless.errors import Cancelled
    from sless.model.outcome import Step
    from sless.model.phase import Phase
    from sless.naming import build_id, log_prefix
    from workflows.failures import told, worth_another
    from workflows.messages import BuildOrder, BuildReport
    from workflows.options import (
        ATTEMPT_BACKOFF_SECONDS,
        BUILD_ATTEMPTS,
        FOLLOWING,
        QUICK,
        REGISTRY,
    )
    from workflows.story import now, tell_phase

T = TypeVar("T")

NONCE_DIGITS = 4
"""Random ones, after the eight of the time: they tell apart attempts of the same second."""


@workflow.defn(name=attributes.BUILD_WORKFLOW)
class BuildWorkflow:
    """Completed means: the image was verified in the registry, and its revision serves."""

    @workflow.init
    def __init__(self, order: BuildOrder) -> None:
        self._order = order
        self._why = Cancelled.reason
        self._report = BuildReport(build=build_id(order.s3_key))

    @workflow.signal(description="Why the cancellation that follows was asked for")
    def ending(self, reason: str) -> None:
        """Told before a cancel that is no person's: `Superseded` or `OwnerGone`."""
        self._why = reason

    @workflow.run
    async def run(self, order: BuildOrder) -> BuildReport:  # noqa: ARG002  # taken by __init__
        """The report; fails with the reason as the failure's type and the report as its detail."""
        try:
            image = await self._image()
            await self._roll_out(image)
        except asyncio.CancelledError:
            self._tell_end()
            raise
        except ActivityError as error:
            if is_cancelled_exception(error):
                self._tell_end()
                raise
            raise self._failure(error) from None
        tell_phase(Phase.READY, message=f"{image} serves.")
        return self._report

    def _tell_end(self) -> None:
        phase = Phase.CANCELLED if self._why == Cancelled.reason else Phase.SUPERSEDED
        tell_phase(phase, reason=self._why)

    def _failure(self, error: ActivityError) -> ApplicationError:
        reason, message = told(error)
        tell_phase(Phase.FAILED, reason=reason, message=message)
        return ApplicationError(message, self._report, type=reason, non_retryable=True)

    async def _image(self) -> str:
        order, build = self._order, self._report.build
        found = await self._make(
            "find image",
            workflow.execute_activity_method(
                Imaging.find_image,
                FindImage(order.function, build),
                summary=f"Is {build} in the registry?",
                **REGISTRY,
            ),
        )
        image = found.image or await self._build()
        self._report = replace(self._report, image=image)
        return image

    async def _build(self) -> str:
        order = self._order
        tell_phase(Phase.PREPARING, message="Making the build context.")
        context = await self._make(
            "prepare context",
            workflow.execute_activity_method(
                Preparing.prepare_context,
                PrepareContext(order.function, order.s3_key),
                summary=order.s3_key,
                **FOLLOWING,
            ),
        )
        self._report = replace(self._report, warnings=context.warnings)
        digest = await self._attempts(context)
        promoted = await self._make(
            "promote image",
            workflow.execute_activity_method(
                Imaging.promote_image,
                PromoteImage(order.function, self._report.build, digest),
                summary=f"Tag {digest[:19]} as {self._report.build}",
                **REGISTRY,
            ),
        )
        return promoted.image or ""

    async def _attempts(self, context: PreparedContext) -> str:
        for attempt in range(1, BUILD_ATTEMPTS + 1):
            try:
                return await self._attempt(attempt, context)
            except ActivityError as error:
                if attempt == BUILD_ATTEMPTS or not worth_another(error):
                    raise
                await self._before_another(attempt, *told(error))
        raise AssertionError("the last attempt returns or raises")

    async def _attempt(self, attempt: int, context: PreparedContext) -> str:
        order = self._order
        nonce = _nonce()
        tell_phase(Phase.BUILDING, message=f"Attempt {attempt}, nonce {nonce}.")
        self._report = replace(
            self._report,
            attempts=attempt,
            log_prefix=log_prefix(
                order.function.namespace, order.function.name, self._report.build
            ),
        )
        workflow.upsert_memo({attributes.MEMO_ATTEMPTS: attempt})
        built: BuiltImage = await self._make(
            "build image",
            workflow.execute_activity_method(
                Building.build_image,
                BuildImage(
                    function=order.function,
                    uid=order.uid,
                    s3_key=order.s3_key,
                    nonce=nonce,
                    context_sha256=context.sha256,
                ),
                summary=f"Attempt {attempt}, nonce {nonce}",
                **FOLLOWING,
            ),
        )
        return built.digest

    async def _before_another(self, attempt: int, reason: str, message: str) -> None:
        wait = ATTEMPT_BACKOFF_SECONDS[attempt - 1]
        tell_phase(
            Phase.BUILDING, reason=reason, message=f"{message} The next attempt is in {wait} s."
        )
        await workflow.sleep(wait, summary=f"{reason}: another attempt in {wait} s")
        order = self._order
        await workflow.execute_activity_method(
            Imaging.check_wanted,
            StillWanted(order.function, order.uid, order.s3_key),
            summary="Does the Function still ask for it?",
            **QUICK,
        )

    async def _roll_out(self, image: str) -> None:
        order = self._order
        tell_phase(Phase.DEPLOYING, message=f"Rolling out {image}.")
        served = await self._step(
            "roll out",
            workflow.execute_activity_method(
                RollingOut.roll_out,
                RollOutImage(order.function, order.uid, order.s3_key, image),
                summary=image,
                **FOLLOWING,
            ),
        )
        self._report = replace(
            self._report, revision=served.revision, generation=served.ask.generation
        )

    async def _make(self, name: str, work: Awaitable[T]) -> T:
        """A step before the rollout: whatever became of it, after a cancel nothing follows.

        An activity may end before it hears of the cancel. A rollout that did so is done.
        """
        try:
            done = await self._step(name, work)
        except ActivityError:
            _check_cancelled()
            raise
        _check_cancelled()
        return done

    async def _step(self, name: str, work: Awaitable[T]) -> T:
        """Runs a step and notes its times for people."""
        started = now()
        try:
            done = await work
        except asyncio.CancelledError:
            self._note(name, started, reason=self._why)
            raise
        except ActivityError as error:
            cancelled = is_cancelled_exception(error)
            self._note(name, started, reason=self._why if cancelled else told(error)[0])
            raise
        # Not in a `finally`: that also runs when the workflow is evicted from a worker's cache.
        self._note(name, started)
        return done

    def _note(self, name: str, started: str, *, reason: str = "") -> None:
        step = Step(name, started, now(), reason)
        self._report = replace(self._report, steps=(*self._report.steps, step))


def _nonce() -> str:
    """Stable across a replay and a reset; sorts by time, and with it the attempts' logs."""
    return f"{int(workflow.time()):08x}{workflow.uuid4().hex[:NONCE_DIGITS]}"


def _check_cancelled() -> None:
    if workflow.cancellation_reason() is not None:
        raise asyncio.CancelledError
