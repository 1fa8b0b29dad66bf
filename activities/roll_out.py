"""Rolls an image out by compare-and-swap, puts the last good revision back, cleans up."""

from dataclasses import dataclass, field

from temporalio import activity

from activities.beating import beating, pause
from activities.messages import CleanUpDeployment, PutBackGood, RolledOut, RollOutImage
from activities.pacing import Pace
from sless.decide.rollout import (
    AwaitForeign,
    Create,
    Judged,
    RolloutGoal,
    RolloutStep,
    Served,
    Stop,
    Swap,
    put_back_step,
    rollout_step,
)
from sless.errors import AlreadyExists, VersionConflict, error_for
from sless.model.function import FunctionRef
from sless.naming import build_id
from sless.ports import Deployments, Functions

POLL_SECONDS = 0.2
"""How late a revision's readiness may be seen."""
POLLS_APART_SECONDS = 0.02
"""Between any two rollouts' turns of some five requests each: many make 250 a second."""


@dataclass(frozen=True, slots=True)
class RollingOut:
    """Every turn reads afresh; every write is refused when what was read has changed."""

    functions: Functions
    deployments: Deployments
    pace: Pace = field(default_factory=lambda: Pace(POLL_SECONDS, POLLS_APART_SECONDS))

    @activity.defn
    async def roll_out(self, order: RollOutImage) -> RolledOut:
        """The ask that is served at the end: the newest of the same s3Key.

        Raises the reason for which the revision failed, `Superseded` or `OwnerGone`.
        """
        goal = RolloutGoal(
            uid=order.uid, s3_key=order.s3_key, build=build_id(order.s3_key), image=order.image
        )
        async with beating():
            with self.pace.shared():
                return await self._take_turns(goal, order.function)

    async def _take_turns(self, goal: RolloutGoal, ref: FunctionRef) -> RolledOut:
        while True:
            step = await self._decide(goal, ref)
            if isinstance(step, Served):
                return RolledOut(step.ask, step.revision.hash)
            if not await self._apply(step):
                await pause(self.pace.seconds)

    async def _decide(self, goal: RolloutGoal, ref: FunctionRef) -> RolloutStep:
        stored = await self.functions.find(ref.namespace, ref.name)
        return rollout_step(
            goal,
            function=stored.function if stored is not None else None,
            deployment=await self.deployments.find(ref.namespace, ref.name),
        )

    async def _apply(self, step: RolloutStep) -> bool:
        """Does a step; whether something changed, so that it is worth deciding at once."""
        try:
            match step:
                case Create(deployment):
                    await self.deployments.create(deployment)
                case Swap(deployment):
                    await self.deployments.swap(deployment)
                case AwaitForeign(deployment):
                    await self.deployments.delete(deployment)
                    return False
                case Judged(note):
                    raise error_for(note.reason, note.message)
                case Stop(reason, message):
                    raise error_for(reason, message)
                case _:
                    return False
        except (AlreadyExists, VersionConflict):
            return False
        return True

    @activity.defn
    async def put_back(self, order: PutBackGood) -> None:
        """Puts the last good revision back, while the Deployment is still that ask's."""
        ref = order.function
        while True:
            step = put_back_step(
                order.ask,
                reason=order.reason,
                message=order.message,
                deployment=await self.deployments.find(ref.namespace, ref.name),
            )
            if step is None:
                return
            if not await self._apply(step):
                await pause(self.pace.seconds)

    @activity.defn
    async def clean_up(self, order: CleanUpDeployment) -> None:
        """Deletes the Deployment of a Function that is gone, by uid."""
        await self.deployments.delete(order.deployment)
