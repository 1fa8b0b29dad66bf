"""Runs one attempt at a build, or adopts it, and follows it to its end."""

import asyncio
from dataclasses import dataclass, field

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.beating import Beats, asked_to_stop, beating, disowned, pause
from activities.build_logs import LogCopy
from activities.messages import BuildImage, BuiltImage
from activities.pacing import Pace
from sless.errors import BuildLost, Transient
from sless.model.attempt import Attempt, AttemptState, AttemptStatus
from sless.naming import attempt_tag, build_id, context_key, parse_own_key
from sless.ports import Builder, Images, Objects, Runs
from sless.ports.runs import RunState

POLL_SECONDS = 0.5
"""How late a log line or an end may be seen."""
POLLS_APART_SECONDS = 0.01
"""Between any two builds' looks of some two requests each: 200 builds make 200 a second."""
ENSURED = "the Job was there"
"""What an attempt at the activity tells the next one."""
QUEUE_SECONDS = 6 * 3600
"""How long a Job may wait for its turn before it can no longer fetch its context."""


@dataclass(frozen=True, slots=True)
class Building:
    """The Job is the truth; an activity only follows it, and may be retried at any point."""

    builder: Builder
    images: Images
    objects: Objects
    runs: Runs
    deadline_seconds: int = 900
    pace: Pace = field(default_factory=lambda: Pace(POLL_SECONDS, POLLS_APART_SECONDS))

    @activity.defn
    async def build_image(self, order: BuildImage) -> BuiltImage:
        """The digest in the registry; a failure's type is a leaf of the error tree."""
        attempt = self._attempt(order)
        try:
            async with beating() as beats:
                with self.pace.shared():
                    await self._ensure(attempt, beats)
                    status = await self._follow(attempt)
        except asyncio.CancelledError:
            if asked_to_stop() or (disowned() and await self._run_closed()):
                await self._end(attempt)
            raise
        if status.state is AttemptState.FAILED:
            # A new attempt is the workflow's to make: the same Job never runs again.
            raise ApplicationError(status.message, type=status.reason, non_retryable=True)
        return BuiltImage(await self._verified(order, attempt, digest=status.digest))

    def _attempt(self, order: BuildImage) -> Attempt:
        ref = order.function
        key = parse_own_key(order.s3_key, namespace=ref.namespace, name=ref.name)
        return Attempt(
            namespace=ref.namespace,
            name=ref.name,
            uid=order.uid,
            build=build_id(order.s3_key),
            nonce=order.nonce,
            runtime=key.runtime,
            context_sha256=order.context_sha256,
            rebuild=key.rebuild,
            deadline_seconds=self.deadline_seconds,
        )

    async def _ensure(self, attempt: Attempt, beats: Beats) -> None:
        """Creates the Job or adopts it; one that was there and is gone is lost, not made again.

        Kubernetes may never start the pod of a Job whose name was used before.
        """
        if beats.heard(ENSURED):
            return
        url = await self.objects.presign(
            context_key(attempt.context_sha256), seconds=attempt.deadline_seconds + QUEUE_SECONDS
        )
        await self.builder.ensure(attempt, context_url=url)
        beats.say(ENSURED)

    async def _follow(self, attempt: Attempt) -> AttemptStatus:
        log = LogCopy(self.builder, self.objects, attempt)
        await log.resume()
        while True:
            status = await self.builder.status(attempt)
            if status.state in {AttemptState.SUCCEEDED, AttemptState.FAILED}:
                await log.drain()
                return status
            await log.copy()
            await pause(self.pace.seconds)

    async def _end(self, attempt: Attempt) -> None:
        """Deletes the Job, however long its builder is away: a failure here would hide the cancel.

        It beats, since a Job takes longer to end than a silent activity is believed in.
        """
        async with beating():
            while True:
                try:
                    return await self.builder.delete(attempt)
                except Transient as error:
                    activity.logger.warning("the Job is not ended yet: %s", error.message)
                    await asyncio.sleep(self.pace.seconds)

    async def _verified(self, order: BuildImage, attempt: Attempt, *, digest: str) -> str:
        tag = attempt_tag(attempt.build, attempt.nonce)
        found = await self.images.find(order.function, tag)
        if found != digest:
            lost = BuildLost(
                f"The build said it pushed {digest}, but the registry answers "
                f"{found or 'nothing'} for {tag}."
            )
            raise ApplicationError(lost.message, type=lost.reason, non_retryable=True)
        return digest

    async def _run_closed(self) -> bool:
        info = activity.info()
        run = await self.runs.find(info.workflow_id or "")
        return (
            run is None or run.run_id != info.workflow_run_id or run.state is not RunState.RUNNING
        )
