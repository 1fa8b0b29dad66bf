"""The function workflow's one decision: what to do next for what was seen and heard."""

from dataclasses import dataclass
from enum import StrEnum

from sless.decide.rollout import is_left_unjudged, must_be_put_right
from sless.errors import Cancelled, ImageMissing, InvalidKey, OwnerGone, Superseded, Terminated
from sless.model.deployment import Deployment, FailedNote, wanted_revision
from sless.model.function import Ask, Function
from sless.model.outcome import Outcome
from sless.model.phase import Phase
from sless.naming import build_id, parse_own_key


class ChildState(StrEnum):
    """How the build that this run started fares."""

    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    CANCELLED = "Cancelled"
    """Not by us: by a person, in Temporal UI."""
    TERMINATED = "Terminated"


@dataclass(frozen=True, slots=True)
class Child:
    """A build, by what it was started for."""

    uid: str
    generation: int
    """Of the ask that started it; newer ones of the same s3Key join it."""
    s3_key: str
    state: ChildState
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a person said to the run itself."""

    cancelled: Ask | None = None
    """The ask that had been read when the run was cancelled."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Why the registry did not say whether it has an image: a leaf of the error tree."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What one look around found. All of it may be stale the moment after."""

    function: Function | None
    outcome: Outcome | None = None
    uploaded: bool = True
    """Whether the zip that the Function names is there."""
    image: str | None = None
    """The build's image by digest, when the registry has it."""
    unknown: Unknown | None = None
    """In place of that."""
    deployment: Deployment | None = None
    revision: str = ""
    """The hash of the Deployment's real revision: `deployment` may be veiled."""
    repair_failed: bool = False
    """Whether an image that vanished under this answered ask could not be built again."""


@dataclass(frozen=True, slots=True)
class Finish:
    """Nothing to do: the run ends."""


@dataclass(frozen=True, slots=True)
class CleanUp:
    """The Function is gone: delete what was deployed for it."""

    deployment: Deployment


@dataclass(frozen=True, slots=True)
class StopBuild:
    """Cancel the build and wait for its end: `Superseded`, `OwnerGone` or `Cancelled`."""

    reason: str


@dataclass(frozen=True, slots=True)
class Build:
    """Start the build of this s3Key."""

    s3_key: str


@dataclass(frozen=True, slots=True)
class AwaitBuild:
    """The right build is under way."""


@dataclass(frozen=True, slots=True)
class AskRegistry:
    """Wait and look again: without the registry's word there is nothing to decide."""

    unknown: Unknown


@dataclass(frozen=True, slots=True)
class RollOut:
    """Roll the image out; no build is needed."""

    image: str


@dataclass(frozen=True, slots=True)
class PutBack:
    """Put the last good revision back."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Record:
    """Write the ask's outcome."""

    phase: Phase
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class NoteRepairFailed:
    """An answered ask whose image vanished could not be built again: write that down, once."""

    reason: str
    message: str


NextStep = (
    Finish
    | CleanUp
    | StopBuild
    | Build
    | AwaitBuild
    | AskRegistry
    | RollOut
    | PutBack
    | Record
    | NoteRepairFailed
)

_MOOT = frozenset({Superseded.reason, OwnerGone.reason})
"""Reasons for which a build ends that say nothing about the upload."""


def answers(child: Child, ask: Ask) -> bool:
    """Whether a build's end is the answer to the ask that had been read when it ended.

    A person who cancels a build means the ask that it was started for. One that joined later may
    have been made after the cancel: it is built again, never answered Cancelled.
    """
    if child.state in {ChildState.RUNNING, ChildState.SUCCEEDED} or child.reason in _MOOT:
        return False
    return child.state is ChildState.FAILED or child.generation >= ask.generation


def next_step(seen: Seen, *, child: Child | None = None, heard: Heard | None = None) -> NextStep:
    """What the function workflow does next."""
    function = seen.function
    running = child if child is not None and child.state is ChildState.RUNNING else None
    if function is None:
        return _gone(seen.deployment, running)
    ended = None if child is running or not _concerns(child, function) else child
    if running is not None and not _concerns(running, function):
        overtaken = running.uid == function.uid
        return StopBuild(Superseded.reason if overtaken else OwnerGone.reason)
    if seen.outcome is not None:
        if heard is not None and heard.cancelled == function.ask:
            return StopBuild(Cancelled.reason) if running is not None else Finish()
        return _repair(seen, function, seen.outcome, running=running, ended=ended)
    if _cancelled(function, ended, heard):
        return _cancel(seen, function, running=running, ended=ended)
    if running is not None:
        return AwaitBuild()
    if ended is not None and ended.state is ChildState.FAILED:
        return Record(Phase.FAILED, ended.reason, ended.message)
    return _answer(seen, function)


def _gone(deployment: Deployment | None, running: Child | None) -> NextStep:
    if running is not None:
        return StopBuild(OwnerGone.reason)
    return Finish() if deployment is None else CleanUp(deployment)


def _concerns(child: Child | None, function: Function) -> bool:
    return (
        child is not None
        and child.uid == function.uid
        and child.s3_key == function.spec.s3_key
        and child.reason not in _MOOT
    )


def _cancelled(function: Function, ended: Child | None, heard: Heard | None) -> bool:
    by_run = heard is not None and heard.cancelled == function.ask
    by_build = (
        ended is not None
        and ended.state in {ChildState.CANCELLED, ChildState.TERMINATED}
        and answers(ended, function.ask)
    )
    return by_run or by_build or function.cancel_wanted


def _cancel(
    seen: Seen, function: Function, *, running: Child | None, ended: Child | None
) -> NextStep:
    if running is not None:
        return StopBuild(Cancelled.reason)
    deployment = seen.deployment
    if deployment is not None and _serves(function, deployment, seen.image):
        return Record(Phase.READY, "Ready", "The cancel came after the revision was marked good.")
    note = _note_for(function, deployment)
    if note is None and deployment is not None and is_left_unjudged(function.ask, deployment):
        return PutBack(Cancelled.reason, "The rollout was cancelled.")
    if ended is not None and ended.state is ChildState.TERMINATED:
        return Record(Phase.CANCELLED, Terminated.reason, "The build's workflow was terminated.")
    return Record(Phase.CANCELLED, Cancelled.reason, "The ask was cancelled.")


def _answer(seen: Seen, function: Function) -> NextStep:
    deployment = seen.deployment
    note = _note_for(function, deployment)
    if note is not None:
        return Record(Phase.FAILED, note.reason, note.message)
    invalid = _invalid_key(function)
    if invalid:
        return Record(Phase.FAILED, InvalidKey.reason, invalid)
    if seen.unknown is not None:
        return AskRegistry(seen.unknown)
    if seen.image is None:
        # Without its zip the ask is Pending, UploadMissing: whoever puts the zip looks again.
        return Build(function.spec.s3_key) if seen.uploaded else Finish()
    if deployment is not None and _serves(function, deployment, seen.image):
        return Record(Phase.READY, "Ready", "The revision serves.")
    return RollOut(seen.image)


def _invalid_key(function: Function) -> str:
    spec = function.spec
    try:
        key = parse_own_key(spec.s3_key, namespace=function.namespace, name=function.name)
    except InvalidKey as error:
        return error.message
    if key.runtime != spec.runtime:
        return f"spec.runtime is {spec.runtime}, but spec.s3Key was uploaded for {key.runtime}."
    return ""


def _repair(
    seen: Seen,
    function: Function,
    outcome: Outcome,
    *,
    running: Child | None,
    ended: Child | None,
) -> NextStep:
    """What an answered ask still needs: drift put right, at most once for a vanished image."""
    if outcome.phase is not Phase.READY:
        if running is not None:
            return StopBuild(Superseded.reason)
        return _keep_last_good(seen, outcome)
    if running is not None:
        return AwaitBuild()
    if ended is not None and ended.state is not ChildState.SUCCEEDED and not seen.repair_failed:
        return NoteRepairFailed(ended.reason or ended.state.value, ended.message)
    return _restore(seen, function)


def _keep_last_good(seen: Seen, outcome: Outcome) -> NextStep:
    if seen.deployment is not None and must_be_put_right(outcome.ask, seen.deployment):
        return PutBack(outcome.reason, outcome.message)
    return Finish()


def _restore(seen: Seen, function: Function) -> NextStep:
    deployment = seen.deployment
    note = _note_for(function, deployment)
    if deployment is not None and note is not None:
        return Finish() if deployment.exposed else PutBack(note.reason, note.message)
    image = seen.image or _image_of(function, deployment)
    if deployment is not None and image and _serves(function, deployment, image):
        if not deployment.exposed:
            return RollOut(image)
        lost = deployment.availability.reason == ImageMissing.reason
        if not (lost and seen.image is None):
            return Finish()
    if seen.image is not None:
        return RollOut(seen.image)
    # Without the registry's word the watcher has it asked again, ever later.
    possible = seen.uploaded and not seen.repair_failed and seen.unknown is None
    return Build(function.spec.s3_key) if possible else Finish()


def _image_of(function: Function, deployment: Deployment | None) -> str | None:
    """The image that the Deployment runs, if it is this build's: the registry may have lost it."""
    if deployment is None or deployment.revision.build != build_id(function.spec.s3_key):
        return None
    return deployment.revision.image


def _serves(function: Function, deployment: Deployment, image: str | None) -> bool:
    if image is None or deployment.ask != function.ask or not deployment.is_good:
        return False
    wanted = wanted_revision(function, image=image, build=build_id(function.spec.s3_key))
    return deployment.revision.hash == wanted.hash


def _note_for(function: Function, deployment: Deployment | None) -> FailedNote | None:
    note = deployment.failed if deployment is not None else None
    return note if note is not None and note.ask == function.ask else None
