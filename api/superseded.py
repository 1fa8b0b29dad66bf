"""Asks that a newer one overtook have no outcome: a build of theirs is known by its run alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from api.models import BuildBody
from sless.errors import InvalidKey, WorkflowsUnavailable
from sless.model.function import Ask, Function
from sless.model.phase import Phase
from sless.naming import build_id, parse_own_key, parse_s3_key
from sless.ports import Runs
from sless.ports.runs import Run

MESSAGE = "A newer ask took its place."


@dataclass(frozen=True, slots=True)
class Span:
    """Generations from the first up to, and without, the second."""

    start: int
    end: int

    def has_more_than(self, builds: Sequence[BuildBody]) -> bool:
        """Whether some generation in it is none of theirs."""
        known = {build.generation for build in builds if self.holds(build.generation)}
        return self.end - self.start > len(known)

    def holds(self, generation: int) -> bool:
        """Whether it is in it."""
        return self.start <= generation < self.end


async def with_superseded(
    builds: Sequence[BuildBody], function: Function, span: Span, runs: Runs
) -> list[BuildBody]:
    """The builds, and between them those that were superseded, the newest first."""
    if not span.has_more_than(builds):
        return list(builds)
    more = [each for each in await find_superseded(function, runs) if span.holds(each.generation)]
    # What has an outcome, be it of an earlier run, is told by that.
    by_generation = {each.generation: each for each in (*reversed(more), *builds)}
    return [by_generation[each] for each in sorted(by_generation, reverse=True)]


async def find_superseded(function: Function, runs: Runs) -> list[BuildBody]:
    """Those of this Function, the newest first.

    Temporal being away is no reason to answer nothing.
    """
    try:
        found = await runs.superseded(function.ref)
    except WorkflowsUnavailable:
        return []
    return [
        _render(run, run.ask, runs)
        for run in found
        if run.ask is not None and run.ask.uid == function.uid and _is_own(run)
    ]


def _is_own(run: Run) -> bool:
    """Whether it is of a zip of its function's: by hand a run can be started of anything."""
    try:
        parse_own_key(run.s3_key, namespace=run.function.namespace, name=run.function.name)
    except InvalidKey:
        return False
    return run.build == build_id(run.s3_key)


def _render(run: Run, ask: Ask, runs: Runs) -> BuildBody:
    return BuildBody(
        id=run.build,
        generation=ask.generation,
        phase=Phase.SUPERSEDED.value,
        reason=Phase.SUPERSEDED.value,
        message=MESSAGE,
        attempts=run.attempts,
        s3_key=run.s3_key,
        runtime=parse_s3_key(run.s3_key).runtime,
        workflow_id=run.workflow_id,
        run_id=run.run_id,
        temporal_url=runs.url(run.workflow_id, run.run_id),
        started_at=run.started_at,
        ended_at=run.ended_at,
    )
