"""Renders a Function's status, and a terminated run's outcome, from what was judged. Pure."""

from collections.abc import Mapping
from typing import Any

from sless.errors import Terminated
from sless.model.outcome import Outcome
from sless.model.phase import Phase
from sless.naming import build_id
from sless.watcher.reconcile import Sight, Verdict

Condition = dict[str, Any]

UNDER_WAY = frozenset({Phase.PENDING, Phase.PREPARING, Phase.BUILDING, Phase.DEPLOYING})


def render_status(
    sight: Sight, verdict: Verdict, *, url: str, previous: Mapping[str, Any], now: str
) -> dict[str, Any]:
    """The whole status; equal to `previous` when nothing changed, times included.

    `now` is RFC 3339 in UTC and enters only conditions that turn.
    """
    function, deployment = sight.function, sight.deployment
    own = deployment if deployment is not None and verdict.serves else None
    status = {
        "observedGeneration": function.generation,
        "phase": verdict.phase.value,
        "reason": verdict.reason,
        "message": verdict.message,
        "build": build_id(function.spec.s3_key),
        "url": url,
        "conditions": _conditions(sight, verdict, previous=previous, now=now),
    }
    if own is not None:
        status |= {"image": own.revision.image, "revision": own.revision.hash}
    elif sight.outcome is not None and sight.outcome.image:
        status["image"] = sight.outcome.image
    return status | _serving(sight)


def render_terminated(sight: Sight, *, now: str) -> Outcome:
    """The outcome that a terminated run could not write."""
    function, run = sight.function, sight.last_run
    return Outcome(
        namespace=function.namespace,
        name=function.name,
        ask=function.ask,
        phase=Phase.CANCELLED,
        reason=Terminated.reason,
        message="The function's workflow was terminated.",
        s3_key=function.spec.s3_key,
        build=build_id(function.spec.s3_key),
        runtime=function.spec.runtime,
        workflow_id=run.workflow_id if run is not None else "",
        run_id=run.run_id if run is not None else "",
        ended_at=now,
    )


def _serving(sight: Sight) -> dict[str, Any]:
    """The newest generation whose revision callers reach; perhaps one before this."""
    routed, deployment = sight.routed, sight.deployment
    good = deployment.good if deployment is not None else None
    if routed is None or deployment is None or good is None or routed.instance != good.instance:
        return {}
    return {"servingGeneration": deployment.good_generation}


def _conditions(
    sight: Sight, verdict: Verdict, *, previous: Mapping[str, Any], now: str
) -> list[Condition]:
    before = {found.get("type"): found for found in previous.get("conditions") or ()}
    generation = sight.function.generation
    return [
        _condition(kind, *facts, generation=generation, before=before.get(kind), now=now)
        for kind, facts in (
            ("Built", _built(sight, verdict)),
            ("Deployed", _deployed(verdict)),
            ("Ready", _ready(verdict)),
            ("Available", _available(verdict)),
        )
    ]


def _built(sight: Sight, verdict: Verdict) -> tuple[str, str, str]:
    if verdict.serves or (sight.outcome is not None and sight.outcome.image):
        return "True", "Built", "The image is in the registry."
    if verdict.phase is Phase.DEPLOYING:
        return "True", "Built", "The image is in the registry."
    return _undecided(verdict)


def _deployed(verdict: Verdict) -> tuple[str, str, str]:
    if verdict.serves:
        return "True", "Deployed", "The Deployment serves this generation."
    return _undecided(verdict)


def _ready(verdict: Verdict) -> tuple[str, str, str]:
    if verdict.phase is Phase.READY:
        return "True", "Ready", "This generation serves and is routed."
    return _undecided(verdict)


def _available(verdict: Verdict) -> tuple[str, str, str]:
    if verdict.available:
        return "True", "Available", "A good revision is routed."
    return "False", "NothingRouted", "No revision is routed."


def _undecided(verdict: Verdict) -> tuple[str, str, str]:
    status = "Unknown" if verdict.phase in UNDER_WAY else "False"
    return status, verdict.reason, verdict.message


def _condition(  # noqa: PLR0913  # a condition has this many parts
    kind: str,
    status: str,
    reason: str,
    message: str,
    *,
    generation: int,
    before: Condition | None,
    now: str,
) -> Condition:
    same = before is not None and before.get("status") == status
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "observedGeneration": generation,
        "lastTransitionTime": before["lastTransitionTime"] if before and same else now,
    }
