"""Puts together what is known of one Function: how it stands, its outcome, its runs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sless.model.function import Function
from sless.model.outcome import Outcome
from sless.model.phase import Phase
from sless.naming import build_id, build_workflow_id, function_workflow_id
from sless.ports import Objects, Runs
from sless.ports.runs import Run, RunState
from sless.ports.scene import Standing
from sless.watcher.memory import Outcomes
from sless.watcher.reconcile import Sight, may_need_repair


@dataclass(slots=True)
class Seeing:
    """What a Standing does not say comes from the objects and the runs."""

    objects: Objects
    runs: Runs
    outcomes: Outcomes

    async def see(self, standing: Standing, running: Mapping[str, Run]) -> Sight:
        """Everything, given the runs under way by their workflow ids."""
        function = standing.stored.function
        workflow_id = function_workflow_id(function.namespace, function.name)
        outcome = await self.outcomes.find(function)
        run, last = await self._find_run(workflow_id, running, outcome=outcome)
        sight = Sight(
            function=function,
            outcome=outcome,
            uploaded=outcome is not None or await self.objects.exists(function.spec.s3_key),
            deployment=standing.deployment,
            routed=standing.routed,
            function_run=run,
            build_run=running.get(_build_workflow_id(function)),
            last_run=last,
            previous=_previous_phase(standing),
        )
        if outcome is None or not may_need_repair(sight):
            return sight
        return replace(sight, repair=await self.outcomes.find_repair(function))

    async def _find_run(
        self, workflow_id: str, running: Mapping[str, Run], *, outcome: Outcome | None
    ) -> tuple[Run | None, Run | None]:
        """The run under way, and the newest that is known where that may matter."""
        run = running.get(workflow_id)
        last = await self.runs.find(workflow_id) if run is None and outcome is None else None
        if last is not None and last.state is RunState.RUNNING:
            run = last  # The list is a second behind.
        return run, last


def is_answered(standing: Standing) -> bool:
    """Whether its status tells the end of this generation: then it can wait a little."""
    phase = _previous_phase(standing)
    return phase is not None and phase.ended


def _build_workflow_id(function: Function) -> str:
    build = build_id(function.spec.s3_key)
    return build_workflow_id(function.namespace, function.name, build)


def _previous_phase(standing: Standing) -> Phase | None:
    status = standing.stored.manifest.get("status") or {}
    same = status.get("observedGeneration") == standing.stored.function.generation
    phase = status.get("phase") if same else None
    return Phase(phase) if phase in set(Phase) else None  # a hand may have written another word
