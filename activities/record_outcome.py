"""Writes outcomes, once; ends builds that another run started."""

from dataclasses import dataclass

from temporalio import activity

from activities.beating import beating
from activities.messages import CloseBuild, RecordOutcome
from sless.model.outcome import Outcome, parse_outcome
from sless.naming import outcome_key, repair_key
from sless.ports import Objects, Runs


@dataclass(frozen=True, slots=True)
class Recording:
    """The first outcome of an ask stands."""

    objects: Objects
    runs: Runs

    @activity.defn
    async def record_outcome(self, order: RecordOutcome) -> Outcome:
        """The outcome that stands, be it this one or an earlier one."""
        outcome = order.outcome
        name = repair_key if order.repair else outcome_key
        key = name(outcome.namespace, outcome.name, outcome.ask.uid, outcome.ask.generation)
        if await self.objects.put_if_absent(key, outcome.to_json()):
            return outcome
        return parse_outcome(await self.objects.get(key))

    @activity.defn
    async def close_build(self, order: CloseBuild) -> None:
        """Cancels a build of that id which is not ours, and waits for its end."""
        async with beating():
            await self.runs.close(order.workflow_id)
