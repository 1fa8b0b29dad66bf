"""How asks were answered: outcomes from S3, newest first, and the present ask's own run."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from api.models import BuildBody, StepBody
from api.zips import keys_under
from sless.errors import InvalidSetting, WorkflowsUnavailable
from sless.model.function import Function
from sless.model.outcome import Outcome, Step, parse_outcome
from sless.model.phase import Phase
from sless.naming import (
    build_id,
    build_workflow_id,
    function_workflow_id,
    outcome_key,
    outcome_prefix,
)
from sless.ports import Objects, Runs
from sless.ports.functions import StoredFunction
from sless.ports.runs import Run, RunState

_GENERATION = re.compile(r"([1-9][0-9]{0,17})\.json", re.ASCII)


@dataclass(frozen=True, slots=True)
class Page:
    """Outcomes by generation, the newest first."""

    items: list[Outcome]
    next: str = ""
    """Token for the next page; empty at the end."""


async def find_outcome(objects: Objects, function: Function, generation: int) -> Outcome | None:
    """An ask's outcome, or none; raises `InternalError` when what is stored cannot be read."""
    key = outcome_key(function.namespace, function.name, function.uid, generation)
    content = await objects.find(key)
    return parse_outcome(content) if content is not None else None


async def page_outcomes(
    objects: Objects,
    function: Function,
    *,
    limit: int,
    token: str = "",
    wanted: Callable[[Outcome], bool] = lambda _: True,
) -> Page:
    """The next outcomes that are wanted: no more are read than it takes to find them."""
    ahead = [n for n in await _generations(objects, function) if n < parse_token(token)]
    items: list[Outcome] = []
    for generation in ahead:
        if len(items) == limit:
            return Page(items, next=str(generation + 1))
        outcome = await find_outcome(objects, function, generation)
        if outcome is not None and wanted(outcome):
            items.append(outcome)
    return Page(items)


def parse_token(token: str) -> int:
    """The generation that a page begins below; raises `InvalidSetting`."""
    if not token:
        return 10**18
    if not re.fullmatch(r"[0-9]{1,18}", token, re.ASCII):
        raise InvalidSetting(f"{token[:80]!r} is no token of a page: use the one given as next.")
    return int(token)


async def _generations(objects: Objects, function: Function) -> list[int]:
    prefix = outcome_prefix(function.namespace, function.name, function.uid)
    names = (key.removeprefix(prefix) for key in await keys_under(objects, prefix))
    found = (match for name in names if (match := _GENERATION.fullmatch(name)))
    return sorted((int(match[1]) for match in found), reverse=True)


def render_outcome(outcome: Outcome, runs: Runs) -> BuildBody:
    """An answered ask as a build."""
    namespace, name, build = outcome.namespace, outcome.name, outcome.build
    built = bool(outcome.build_run_id)
    workflow = build_workflow_id(namespace, name, build) if built else outcome.workflow_id
    run_id = outcome.build_run_id if built else outcome.run_id
    return BuildBody(
        id=build,
        generation=outcome.ask.generation,
        phase=outcome.phase.value,
        reason=outcome.reason,
        message=outcome.message,
        attempts=outcome.attempts,
        steps=_steps(outcome.steps),
        image=outcome.image,
        s3_key=outcome.s3_key,
        runtime=outcome.runtime,
        workflow_id=workflow,
        run_id=run_id,
        temporal_url=runs.url(workflow, run_id),
        started_at=outcome.steps[0].started_at if outcome.steps else "",
        ended_at=outcome.ended_at,
    )


async def describe_present(stored: StoredFunction, runs: Runs) -> BuildBody:
    """The present ask, not answered yet: as its runs tell, else as the watcher last saw it."""
    function = stored.function
    build = build_id(function.spec.s3_key)
    shown = await find_present_run(function, runs)
    told = _told(shown) if shown is not None else _status(stored)
    workflow = shown.workflow_id if shown else function_workflow_id(*_names(function))
    run_id = shown.run_id if shown else ""
    return BuildBody(
        id=build,
        generation=function.generation,
        phase=told.phase,
        reason=told.reason,
        message=told.message,
        attempts=shown.attempts if shown else 0,
        s3_key=function.spec.s3_key,
        runtime=function.spec.runtime,
        workflow_id=workflow,
        run_id=run_id,
        temporal_url=runs.url(workflow, run_id),
        started_at=shown.started_at if shown else "",
    )


async def find_present_run(function: Function, runs: Runs) -> Run | None:
    """The run that is at the present ask, the build's before the function's own; or none.

    A build that runs was perhaps started for an older ask: it goes on for the newest of its key.
    Temporal being away is no reason to answer nothing.
    """
    namespace, name = _names(function)
    build = build_id(function.spec.s3_key)
    try:
        child = await runs.find(build_workflow_id(namespace, name, build))
        if child is not None and _is_at(child, function):
            return child
        own = await runs.find(function_workflow_id(namespace, name))
    except WorkflowsUnavailable:
        return None
    return own if own is not None and own.ask == function.ask else None


def _is_at(child: Run, function: Function) -> bool:
    if child.ask == function.ask:
        return True
    mine = child.ask is None or child.ask.uid == function.uid
    return mine and child.state is RunState.RUNNING


@dataclass(frozen=True, slots=True)
class _Told:
    phase: str
    reason: str = ""
    message: str = ""


def _told(run: Run) -> _Told:
    # Until its outcome is stored an ask has not ended, whatever its run says of itself.
    phase = run.phase if run.phase is not None and not run.phase.ended else None
    return _Told((phase or _last_phase(run)).value, run.reason, run.message)


def _last_phase(run: Run) -> Phase:
    return Phase.DEPLOYING if run.phase is Phase.READY else Phase.PENDING


def _status(stored: StoredFunction) -> _Told:
    status = stored.manifest.get("status") or {}
    if status.get("observedGeneration") != stored.function.generation:
        return _Told(Phase.PENDING.value)
    phase = status.get("phase") or Phase.PENDING.value
    return _Told(phase, status.get("reason", ""), status.get("message", ""))


def _names(function: Function) -> tuple[str, str]:
    return function.namespace, function.name


def _steps(steps: Iterable[Step]) -> list[StepBody]:
    return [
        StepBody(
            name=step.name,
            started_at=step.started_at,
            ended_at=step.ended_at,
            reason=step.reason,
        )
        for step in steps
    ]
