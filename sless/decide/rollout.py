"""How a rollout goes on: decided anew from the Function and the Deployment at each turn.

Nothing here trusts a workflow's input beyond the ask's uid and the s3Key: what is rendered is the
newest Function. Each write that follows from a step is a compare-and-swap; on a conflict the step
is decided again from fresh reads.
"""

from dataclasses import dataclass, replace

from sless.errors import OwnerGone, Superseded
from sless.model.deployment import (
    Availability,
    Deployment,
    FailedNote,
    Progress,
    Revision,
    wanted_revision,
)
from sless.model.function import Ask, Function


@dataclass(frozen=True, slots=True)
class Create:
    """Create the Deployment; it must not exist."""

    deployment: Deployment


@dataclass(frozen=True, slots=True)
class Swap:
    """Write the Deployment over the version that was read."""

    deployment: Deployment


@dataclass(frozen=True, slots=True)
class Wait:
    """The present revision is not judged yet."""

    availability: Availability


@dataclass(frozen=True, slots=True)
class AwaitForeign:
    """A Deployment of a deleted Function with this name is in the way; delete it by uid."""

    deployment: Deployment


@dataclass(frozen=True, slots=True)
class Served:
    """The revision is good and serves this ask."""

    ask: Ask
    revision: Revision


@dataclass(frozen=True, slots=True)
class Judged:
    """The ask's revision failed, and the note says why."""

    note: FailedNote


@dataclass(frozen=True, slots=True)
class Stop:
    """Nothing is to be rolled out any more: `Superseded` or `OwnerGone`."""

    reason: str
    message: str


RolloutStep = Create | Swap | Wait | AwaitForeign | Served | Judged | Stop


@dataclass(frozen=True, slots=True)
class RolloutGoal:
    """What a rollout was started for."""

    uid: str
    s3_key: str
    build: str
    image: str
    """By digest."""


def rollout_step(
    goal: RolloutGoal, *, function: Function | None, deployment: Deployment | None
) -> RolloutStep:
    """What a rollout does next."""
    if function is None or function.uid != goal.uid:
        return Stop(OwnerGone.reason, "The Function was deleted.")
    if function.spec.s3_key != goal.s3_key:
        return Stop(Superseded.reason, f"Generation {function.generation} asks for another upload.")
    wanted = wanted_revision(function, image=goal.image, build=goal.build)
    if deployment is None:
        return Create(_fresh(function, wanted))
    if deployment.ask.uid != function.uid:
        return AwaitForeign(deployment)
    if deployment.ask.generation > function.generation:
        return Stop(
            Superseded.reason, f"Generation {deployment.ask.generation} is rolled out already."
        )
    return _against(deployment, ask=function.ask, wanted=wanted)


def _against(deployment: Deployment, *, ask: Ask, wanted: Revision) -> RolloutStep:
    note = deployment.failed
    if note is not None and note.ask == ask:
        return Judged(note)
    if deployment.ask != ask or deployment.revision.hash != wanted.hash:
        return Swap(_rendered(deployment, ask=ask, wanted=wanted))
    return _judge(deployment)


def _judge(deployment: Deployment) -> RolloutStep:
    if deployment.is_good:
        if not deployment.exposed:
            return Swap(deployment)  # a write of whatever content exposes it
        return Served(deployment.ask, deployment.revision)
    availability = deployment.availability
    if availability.progress is Progress.AVAILABLE:
        return Swap(_marked_good(deployment))
    if availability.progress is Progress.FAILED:
        return Swap(_put_back(deployment, availability.reason, availability.message))
    return Wait(availability)


def put_back_step(
    ask: Ask, *, reason: str, message: str, deployment: Deployment | None
) -> Swap | None:
    """Puts the last good revision back for an ask that will not be served; none if done."""
    if deployment is None or not must_be_put_right(ask, deployment):
        return None
    if deployment.is_settled:
        return Swap(deployment)
    return Swap(_put_back(deployment, reason, message))


def must_be_put_right(ask: Ask, deployment: Deployment) -> bool:
    """Whether an ask that will not be served left its own revision unjudged, or nothing exposed."""
    hidden = _is_no_newer(ask, deployment) and not deployment.exposed
    return hidden or is_left_unjudged(ask, deployment)


def is_left_unjudged(ask: Ask, deployment: Deployment) -> bool:
    """Whether that ask's revision runs, neither good nor noted."""
    return _is_no_newer(ask, deployment) and not deployment.is_settled


def _is_no_newer(ask: Ask, deployment: Deployment) -> bool:
    """What a newer ask wrote is for that one to see to."""
    return deployment.ask.uid == ask.uid and deployment.ask.generation <= ask.generation


def _put_back(deployment: Deployment, reason: str, message: str) -> Deployment:
    note = FailedNote(
        ask=deployment.ask, hash=deployment.revision.hash, reason=reason, message=message
    )
    # A first revision that is bad has nothing before it: it stays, noted.
    return replace(deployment, revision=deployment.good or deployment.revision, failed=note)


def _fresh(function: Function, wanted: Revision) -> Deployment:
    return Deployment(
        namespace=function.namespace, name=function.name, ask=function.ask, revision=wanted
    )


def _marked_good(deployment: Deployment) -> Deployment:
    return replace(deployment, good=deployment.revision, good_generation=deployment.ask.generation)


def _rendered(deployment: Deployment, *, ask: Ask, wanted: Revision) -> Deployment:
    revision = _restarted(deployment, ask, wanted)
    rendered = replace(deployment, ask=ask, revision=revision, failed=None)
    # Equal settings need no judgement: what is good serves the newer ask at once.
    return _marked_good(rendered) if rendered.is_good else rendered


def _restarted(deployment: Deployment, ask: Ask, wanted: Revision) -> Revision:
    """The wanted revision; told apart from the one that failed, so that it is judged anew."""
    present, note = deployment.revision, deployment.failed
    if present.hash == wanted.hash and deployment.is_good:
        return present
    if note is not None and note.hash == wanted.hash:
        return replace(wanted, retry=ask.generation)
    return present if present.hash == wanted.hash else wanted
