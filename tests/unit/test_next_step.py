"""The table of transitions: what was seen and heard, and what is done next."""

from dataclasses import dataclass, field, replace

import pytest

from sless.decide.next_step import (
    AskRegistry,
    AwaitBuild,
    Build,
    Child,
    ChildState,
    CleanUp,
    Finish,
    Heard,
    NextStep,
    NoteRepairFailed,
    PutBack,
    Record,
    RollOut,
    Seen,
    StopBuild,
    Unknown,
    next_step,
)
from sless.model.deployment import (
    Availability,
    Deployment,
    FailedNote,
    Progress,
    Revision,
    wanted_revision,
)
from sless.model.function import Function, FunctionSpec
from sless.model.outcome import Outcome
from sless.model.phase import Phase
from sless.naming import S3Key, build_id

A = str(S3Key("team", "hello", "a" * 64, "python3.11"))
B = str(S3Key("team", "hello", "b" * 64, "python3.11"))
AWAY = Unknown("RegistryUnavailable", "It does not answer.")
IMAGE_A, IMAGE_B = "r/team/hello@sha256:aa", "r/team/hello@sha256:bb"


def function(generation: int = 1, key: str = A, *, uid: str = "u1", **changes: object) -> Function:
    whole = Function(
        namespace="team",
        name="hello",
        uid=uid,
        generation=generation,
        resource_version="7",
        spec=FunctionSpec(s3_key=key, runtime="python3.11"),
    )
    return replace(whole, **changes)  # type: ignore[arg-type]


def cancelling(of: Function) -> Function:
    return replace(of, annotations={"sless.io/cancel": str(of.generation)})


def revision(of: Function, image: str = IMAGE_A) -> Revision:
    return wanted_revision(of, image=image, build=build_id(of.spec.s3_key))


def deployed(of: Function, image: str = IMAGE_A, **changes: object) -> Deployment:
    whole = Deployment("team", "hello", of.ask, revision(of, image), uid="d1", resource_version="3")
    return replace(whole, **changes)  # type: ignore[arg-type]


def good(of: Function, image: str = IMAGE_A) -> Deployment:
    return deployed(of, image, good=revision(of, image))


def noted(of: Function, *, before: Function | None = None, reason: str = "X") -> Deployment:
    """Failed; the revision before it, if any, was put back."""
    note = FailedNote(of.ask, revision(of).hash, reason, "why")
    if before is None:
        return deployed(of, failed=note)
    was = revision(before, IMAGE_B)
    return deployed(of, revision=was, good=was, failed=note)


def outcome(of: Function, phase: Phase = Phase.READY, reason: str = "Ready") -> Outcome:
    return Outcome(
        namespace="team",
        name="hello",
        ask=of.ask,
        phase=phase,
        reason=reason,
        message="m",
        s3_key=of.spec.s3_key,
        build=build_id(of.spec.s3_key),
        runtime="python3.11",
    )


def child(of: Function, state: ChildState, reason: str = "", message: str = "") -> Child:
    return Child(of.uid, of.generation, of.spec.s3_key, state, reason, message)


RUNNING, SUCCEEDED, FAILED = ChildState.RUNNING, ChildState.SUCCEEDED, ChildState.FAILED
READY = Record(Phase.READY, "Ready", "The revision serves.")
LATE = Record(Phase.READY, "Ready", "The cancel came after the revision was marked good.")
CANCELLED = Record(Phase.CANCELLED, "Cancelled", "The ask was cancelled.")
TERMINATED = Record(Phase.CANCELLED, "Terminated", "The build's workflow was terminated.")
PUT_BACK = PutBack("Cancelled", "The rollout was cancelled.")
f1, f2 = function(1), function(2)
b2, a3 = function(2, B), function(3)
LOST = Availability(Progress.AVAILABLE, "ImageMissing", "pull: not found")


@dataclass(frozen=True)
class Case:
    name: str
    seen: Seen
    then: NextStep
    child: Child | None = None
    heard: Heard = field(default_factory=Heard)


CASES = [
    Case("first upload", Seen(f1), Build(A)),
    Case("its zip is not there yet", Seen(f1, uploaded=False), Finish()),
    Case("build under way", Seen(f1), AwaitBuild(), child(f1, RUNNING)),
    Case("same zip again while it runs joins it", Seen(f2), AwaitBuild(), child(f1, RUNNING)),
    Case("built, nothing deployed", Seen(f1, image=IMAGE_A), RollOut(IMAGE_A)),
    Case(
        "built and rolled out",
        Seen(f1, image=IMAGE_A, deployment=good(f1)),
        READY,
        child(f1, SUCCEEDED),
    ),
    Case("answered", Seen(f1, outcome(f1), image=IMAGE_A, deployment=good(f1)), Finish()),
    Case(
        "same zip after success needs no build",
        Seen(f2, image=IMAGE_A, deployment=good(f1)),
        RollOut(IMAGE_A),
    ),
    Case(
        "same zip after success, its rollout done",
        Seen(f2, image=IMAGE_A, deployment=good(f2)),
        READY,
    ),
    Case(
        "build failed",
        Seen(f1),
        Record(Phase.FAILED, "BuildFailed", "no"),
        child(f1, FAILED, "BuildFailed", "no"),
    ),
    Case("retry after a failure", Seen(f2), Build(A)),
    Case("another upload supersedes", Seen(b2), StopBuild("Superseded"), child(f1, RUNNING)),
    Case("the superseded build is forgotten", Seen(b2), Build(B)),
    Case("A-B-A", Seen(a3), StopBuild("Superseded"), child(b2, RUNNING)),
    Case("A-B-A, A was built", Seen(a3, image=IMAGE_A), RollOut(IMAGE_A)),
    Case(
        "a build that found itself superseded says nothing of the upload",
        Seen(a3),
        Build(A),
        child(f1, FAILED, "Superseded"),
    ),
    Case(
        "re-created under another uid while the old build runs",
        Seen(function(1, uid="u2")),
        StopBuild("OwnerGone"),
        child(f1, RUNNING),
    ),
    Case("deleted while building", Seen(None), StopBuild("OwnerGone"), child(f1, RUNNING)),
    Case("deleted, still deployed", Seen(None, deployment=good(f1)), CleanUp(good(f1))),
    Case("deleted, nothing left", Seen(None), Finish()),
    Case(
        "key of another function",
        Seen(function(1, A.replace("team", "other"))),
        Record(Phase.FAILED, "InvalidKey", "spec.s3Key must start with functions/team/hello/"),
    ),
    Case(
        "rollout failed, nothing before it",
        Seen(f1, image=IMAGE_A, deployment=noted(f1)),
        Record(Phase.FAILED, "X", "why"),
    ),
    Case(
        "rollout failed, the one before put back",
        Seen(f2, image=IMAGE_A, deployment=noted(f2, before=b2)),
        Record(Phase.FAILED, "X", "why"),
    ),
    Case(
        "a new generation does not heed the note",
        Seen(a3, image=IMAGE_A, deployment=noted(f2, before=b2)),
        RollOut(IMAGE_A),
    ),
    # Cancelling.
    Case("cancel while building", Seen(cancelling(f1)), StopBuild("Cancelled"), child(f1, RUNNING)),
    Case("cancelled build", Seen(f1), CANCELLED, child(f1, ChildState.CANCELLED)),
    Case("terminated build", Seen(f1), TERMINATED, child(f1, ChildState.TERMINATED)),
    Case(
        "an ask that joined a build is not cancelled with it",
        Seen(f2),
        Build(A),
        child(f1, ChildState.CANCELLED),
    ),
    Case("cancel of the run", Seen(f1), CANCELLED, heard=Heard(f1.ask)),
    Case("cancel meant for an older ask", Seen(f2), Build(A), heard=Heard(f1.ask)),
    Case(
        "annotation for an older ask may stay",
        Seen(replace(f2, annotations={"sless.io/cancel": "1"})),
        Build(A),
    ),
    Case(
        "cancel during the rollout",
        Seen(cancelling(f2), image=IMAGE_A, deployment=deployed(f2, good=revision(b2, IMAGE_B))),
        PUT_BACK,
    ),
    Case(
        "cancel during the rollout, put back",
        Seen(cancelling(f2), image=IMAGE_A, deployment=noted(f2, before=b2, reason="Cancelled")),
        CANCELLED,
    ),
    Case("cancel during a first rollout", Seen(cancelling(f1), deployment=deployed(f1)), PUT_BACK),
    Case(
        "cancel during a first rollout, noted",
        Seen(cancelling(f1), deployment=noted(f1)),
        CANCELLED,
    ),
    Case(
        "cancel of an ask whose successor is rolling out already",
        Seen(cancelling(f1), deployment=deployed(f2)),
        CANCELLED,
    ),
    Case(
        "cancel after the revision was marked good",
        Seen(cancelling(f1), image=IMAGE_A, deployment=good(f1)),
        LATE,
    ),
    Case(
        "cancel of an unchanged ask before its rollout",
        Seen(cancelling(f2), image=IMAGE_A, deployment=good(f1)),
        CANCELLED,
    ),
    Case(
        "a late cancel of an answered ask changes nothing",
        Seen(cancelling(f1), outcome(f1), image=IMAGE_A, deployment=good(f1)),
        Finish(),
    ),
    # Drift of an answered ask.
    Case("Deployment deleted by hand", Seen(f1, outcome(f1), image=IMAGE_A), RollOut(IMAGE_A)),
    Case(
        "Deployment changed by hand",
        Seen(
            f1,
            outcome(f1),
            image=IMAGE_A,
            deployment=deployed(f1, "other@sha256:00", good=revision(f1)),
        ),
        RollOut(IMAGE_A),
    ),
    Case(
        "unjudged under Ready is judged",
        Seen(f1, outcome(f1), image=IMAGE_A, deployment=deployed(f1)),
        RollOut(IMAGE_A),
    ),
    Case(
        "judged bad under Ready stays noted: no loop",
        Seen(f2, outcome(f2), image=IMAGE_A, deployment=noted(f2, before=b2)),
        Finish(),
    ),
    Case(
        "unjudged under Failed: the last good comes back",
        Seen(
            f2,
            outcome(f2, Phase.FAILED, "BuildFailed"),
            deployment=deployed(f1, good=revision(b2, IMAGE_B)),
        ),
        PutBack("BuildFailed", "m"),
    ),
    Case(
        "last good under Failed stays",
        Seen(f2, outcome(f2, Phase.FAILED), deployment=good(f1)),
        Finish(),
    ),
    Case(
        "nothing good under Failed stays, noted",
        Seen(f1, outcome(f1, Phase.FAILED), deployment=noted(f1)),
        Finish(),
    ),
    Case("nothing deployed under Failed", Seen(f1, outcome(f1, Phase.FAILED)), Finish()),
    Case(
        "build left under a Failed ask is stopped",
        Seen(f1, outcome(f1, Phase.FAILED)),
        StopBuild("Superseded"),
        child(f1, RUNNING),
    ),
    Case(
        "cancelled while no call finds the last good one",
        Seen(cancelling(f2), deployment=replace(good(f1), exposed=False)),
        Record(Phase.CANCELLED, "Cancelled", "The ask was cancelled."),
    ),
    Case(
        "last good under Failed, but no call finds it",
        Seen(f2, outcome(f2, Phase.FAILED), deployment=replace(good(f1), exposed=False)),
        PutBack("Ready", "m"),
    ),
    Case(
        "no call finds it",
        Seen(f1, outcome(f1), image=IMAGE_A, deployment=replace(good(f1), exposed=False)),
        RollOut(IMAGE_A),
    ),
    Case(
        "no call finds it, and the image is gone, but it runs",
        Seen(f1, outcome(f1), deployment=replace(good(f1), exposed=False)),
        RollOut(IMAGE_A),
    ),
    Case(
        "put back under Ready, and no call finds it",
        Seen(f2, outcome(f2), deployment=replace(noted(f2, before=f1), exposed=False)),
        PutBack("X", "why"),
    ),
    Case("registry away", Seen(f1, unknown=AWAY), AskRegistry(AWAY)),
    Case(
        "registry away, and something older serves",
        Seen(f2, unknown=AWAY, deployment=good(f1)),
        AskRegistry(AWAY),
    ),
    Case(
        "cancelled while the registry is away",
        Seen(cancelling(f1), unknown=AWAY),
        Record(Phase.CANCELLED, "Cancelled", "The ask was cancelled."),
    ),
    Case(
        "registry away under Ready, and it serves",
        Seen(f1, outcome(f1), unknown=AWAY, deployment=good(f1)),
        Finish(),
    ),
    Case(
        "registry away under Ready, and nothing is deployed",
        Seen(f1, outcome(f1), unknown=AWAY),
        Finish(),
    ),
    Case(
        "registry away under Ready, and a pod could not pull",
        Seen(f1, outcome(f1), unknown=AWAY, deployment=replace(good(f1), availability=LOST)),
        Finish(),
    ),
    Case(
        "image gone, but it runs",
        Seen(f1, outcome(f1), deployment=good(f1)),
        Finish(),
    ),
    Case(
        "image gone, and a pod could not pull it",
        Seen(f1, outcome(f1), deployment=replace(good(f1), availability=LOST)),
        Build(A),
    ),
    Case("image and Deployment gone", Seen(f1, outcome(f1)), Build(A)),
    Case("image, Deployment and zip gone", Seen(f1, outcome(f1), uploaded=False), Finish()),
    Case("being built again", Seen(f1, outcome(f1)), AwaitBuild(), child(f1, RUNNING)),
    Case(
        "could not be built again",
        Seen(f1, outcome(f1)),
        NoteRepairFailed("BuildFailed", "no"),
        child(f1, FAILED, "BuildFailed", "no"),
    ),
    Case("noted: not a second time", Seen(f1, outcome(f1), repair_failed=True), Finish()),
    Case(
        "noted, child not forgotten yet",
        Seen(f1, outcome(f1), repair_failed=True),
        Finish(),
        child(f1, FAILED, "BuildFailed"),
    ),
    Case("restored without status", Seen(f1, outcome(f1), image=IMAGE_A), RollOut(IMAGE_A)),
    Case(
        "cancel of a repair",
        Seen(f1, outcome(f1)),
        StopBuild("Cancelled"),
        child(f1, RUNNING),
        Heard(f1.ask),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_next_step(case: Case) -> None:
    assert next_step(case.seen, child=case.child, heard=case.heard) == case.then


def test_the_table_reaches_every_step() -> None:
    reached = {type(case.then) for case in CASES}
    assert reached == set(NextStep.__args__)
