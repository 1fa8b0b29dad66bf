"""Judges one Function: the status it deserves, and whether somebody must look. Pure."""

from dataclasses import dataclass
from enum import Enum, auto

from sless.decide.next_step import Finish, Seen, next_step
from sless.errors import ImageMissing, UploadMissing
from sless.model.deployment import Deployment
from sless.model.function import Function
from sless.model.outcome import Outcome
from sless.model.phase import Phase
from sless.model.routed import Routed
from sless.naming import build_id
from sless.ports.runs import Run, RunState


class Act(Enum):
    """What the watcher does beyond writing status. It never builds or deploys."""

    NOTHING = auto()
    LOOK = auto()
    """Signal `look`, with start."""
    RECORD_TERMINATED = auto()
    """Write the outcome that a terminated run could not."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What the watcher knows of one Function; all but `function` may be older than it."""

    function: Function
    outcome: Outcome | None = None
    repair: Outcome | None = None
    """The note that a vanished image could not be built again."""
    uploaded: bool = True
    deployment: Deployment | None = None
    routed: Routed | None = None
    function_run: Run | None = None
    """Its function workflow, if one is under way."""
    build_run: Run | None = None
    """The build of its s3Key, if one is under way."""
    last_run: Run | None = None
    """The newest closed function workflow, where no outcome and no run was found."""
    previous: Phase | None = None
    """The phase in status, if that is about this generation."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where the ask stands."""

    phase: Phase
    reason: str
    message: str
    serves: bool
    """The Deployment serves this ask."""
    routed: bool
    """And the gateway routes it."""
    available: bool
    """Something good is routed, perhaps an older revision."""


def act_for(sight: Sight) -> Act:
    """Whether anybody must look; an ask that is being looked at is left alone."""
    if sight.function_run is not None:
        return Act.LOOK if _has_news_for(sight.function_run, sight) else Act.NOTHING
    if sight.outcome is None and _terminated(sight):
        return Act.RECORD_TERMINATED
    seen = Seen(
        function=sight.function,
        outcome=sight.outcome,
        uploaded=sight.uploaded,
        image=_known_image(sight),
        deployment=sight.deployment,
        repair_failed=sight.repair is not None,
    )
    return Act.NOTHING if isinstance(next_step(seen), Finish) else Act.LOOK


def may_need_repair(sight: Sight) -> bool:
    """Whether it makes a difference if a note says that a vanished image cannot be built again."""
    return act_for(sight) is Act.LOOK or verdict_for(sight).phase is Phase.DEPLOYING


def _has_news_for(run: Run, sight: Sight) -> bool:
    """Whether there is what its run has not read: kubectl writes, and tells no workflow."""
    if sight.outcome is not None:
        return False
    function = sight.function
    return function.cancel_wanted or (run.ask is not None and run.ask != function.ask)


def _terminated(sight: Sight) -> bool:
    run = sight.last_run
    return run is not None and run.state is RunState.TERMINATED and run.ask == sight.function.ask


def _known_image(sight: Sight) -> str | None:
    """The registry is not asked: an image is there until a pod says that it is not."""
    deployment = sight.deployment
    if deployment is not None and deployment.availability.reason == ImageMissing.reason:
        return None
    return (sight.outcome.image or None) if sight.outcome is not None else None


def verdict_for(sight: Sight) -> Verdict:
    """Where the ask stands, as people are told."""
    serves = _serves(sight)
    routed = serves and _routes(sight.routed, sight.function)
    phase, reason, message = _phase(sight, routed=routed)
    return Verdict(
        phase=phase,
        reason=reason,
        message=message,
        serves=serves,
        routed=routed,
        available=sight.routed is not None and sight.routed.uid == sight.function.uid,
    )


def _serves(sight: Sight) -> bool:
    deployment = sight.deployment
    return (
        deployment is not None
        and deployment.is_good
        and deployment.ask == sight.function.ask
        and deployment.failed is None
        and deployment.revision.build == build_id(sight.function.spec.s3_key)
    )


def _routes(routed: Routed | None, function: Function) -> bool:
    return routed is not None and (routed.uid, routed.generation) == (
        function.uid,
        function.generation,
    )


def _phase(sight: Sight, *, routed: bool) -> tuple[Phase, str, str]:
    outcome = sight.outcome
    if outcome is None:
        return _under_way(sight)
    if outcome.phase is not Phase.READY:
        return outcome.phase, outcome.reason, outcome.message
    note = sight.deployment.failed if sight.deployment is not None else None
    if note is not None and note.ask == sight.function.ask:
        return Phase.FAILED, note.reason, note.message
    if sight.repair is not None and not routed:
        return Phase.FAILED, sight.repair.reason, sight.repair.message
    if routed:
        return Phase.READY, outcome.reason, outcome.message
    trouble = sight.deployment.availability if sight.deployment is not None else None
    if trouble is not None and trouble.reason:
        return Phase.DEPLOYING, trouble.reason, trouble.message
    return Phase.DEPLOYING, "NotRouted", "The gateway does not route this revision yet."


def _under_way(sight: Sight) -> tuple[Phase, str, str]:
    run = sight.build_run or sight.function_run
    phase = (run.phase if run is not None else None) or Phase.PENDING
    if run is None and not sight.uploaded:
        return (
            Phase.PENDING,
            UploadMissing.reason,
            f"There is no zip at {sight.function.spec.s3_key}: upload it, or name one that is.",
        )
    # A list of runs may be a second old: an ask never falls back.
    phase = _later(Phase.PENDING if phase.ended else phase, sight.previous)
    if phase is Phase.DEPLOYING and (trouble := _struggle(sight)):
        return phase, *trouble
    reason = run.reason if run is not None and run.phase is phase else phase.value
    message = run.message if run is not None and run.phase is phase else ""
    return phase, reason or phase.value, message


def _struggle(sight: Sight) -> tuple[str, str] | None:
    """What keeps the ask's own revision from coming up, long before its time is over."""
    deployment = sight.deployment
    if deployment is None or deployment.ask != sight.function.ask:
        return None
    availability = deployment.availability
    return (availability.reason, availability.message) if availability.reason else None


_ORDER = (Phase.PENDING, Phase.PREPARING, Phase.BUILDING, Phase.DEPLOYING)


def _later(phase: Phase, previous: Phase | None) -> Phase:
    if previous not in _ORDER:
        return phase
    return max(phase, previous, key=_ORDER.index)
