"""What the watcher makes of what it sees: the phase, the conditions, and whether to look."""

from dataclasses import replace

import pytest

from sless.model.deployment import Availability, Deployment, FailedNote, Progress, wanted_revision
from sless.model.function import Function, FunctionRef, FunctionSpec
from sless.model.outcome import Outcome
from sless.model.phase import Phase
from sless.model.routed import Routed
from sless.naming import S3Key, build_id
from sless.ports.runs import Run, RunState
from sless.watcher.reconcile import Act, Sight, act_for, verdict_for
from sless.watcher.status import render_status

KEY = str(S3Key("team", "hello", "a" * 64, "python3.11"))
FUNCTION = Function("team", "hello", "u1", 3, "9", FunctionSpec(KEY, "python3.11"))
IMAGE = "r@sha256:aa"
REVISION = wanted_revision(FUNCTION, image=IMAGE, build=build_id(KEY))
OLD = replace(REVISION, image="r@sha256:00", build="000000000000")
GOOD = Deployment(
    "team", "hello", FUNCTION.ask, REVISION, good=REVISION, good_generation=3, uid="d1"
)
PUT_BACK = replace(
    GOOD,
    revision=OLD,
    good=OLD,
    good_generation=2,
    failed=FailedNote(FUNCTION.ask, REVISION.hash, "FunctionCrashed", "boom"),
)
ROUTED = Routed("team", "hello", "u1", 3, REVISION.instance)
OLD_ROUTED = Routed("team", "hello", "u1", 3, OLD.instance)


def outcome(phase: Phase = Phase.READY, reason: str = "Ready", image: str = IMAGE) -> Outcome:
    return Outcome(
        namespace="team",
        name="hello",
        ask=FUNCTION.ask,
        phase=phase,
        reason=reason,
        message="m",
        s3_key=KEY,
        build=build_id(KEY),
        runtime="python3.11",
        image=image,
    )


def run(phase: Phase | None, *, state: RunState = RunState.RUNNING, reason: str = "") -> Run:
    return Run(
        "w", "r", state, FunctionRef("team", "hello"), FUNCTION.ask, phase=phase, reason=reason
    )


SIGHT = Sight(FUNCTION)
OLDER = replace(FUNCTION.ask, generation=2)
TO_CANCEL = replace(FUNCTION, annotations={"sless.io/cancel": "3"})
CRASHING = replace(GOOD, availability=Availability(reason="FunctionCrashed", message="boom"))
CRASHING_OLDER = replace(CRASHING, ask=OLDER)
SERVING = Sight(FUNCTION, outcome(), deployment=GOOD, routed=ROUTED)


@pytest.mark.parametrize(
    ("sight", "phase", "reason"),
    [
        (SIGHT, Phase.PENDING, "Pending"),
        (replace(SIGHT, uploaded=False), Phase.PENDING, "UploadMissing"),
        (replace(SIGHT, function_run=run(Phase.PENDING)), Phase.PENDING, "Pending"),
        (replace(SIGHT, build_run=run(Phase.PREPARING)), Phase.PREPARING, "Preparing"),
        (
            replace(SIGHT, build_run=run(Phase.BUILDING, reason="BuildLost")),
            Phase.BUILDING,
            "BuildLost",
        ),
        (replace(SIGHT, function_run=run(Phase.DEPLOYING)), Phase.DEPLOYING, "Deploying"),
        (
            replace(SIGHT, function_run=run(Phase.DEPLOYING), deployment=CRASHING),
            Phase.DEPLOYING,
            "FunctionCrashed",
        ),
        (
            replace(SIGHT, function_run=run(Phase.DEPLOYING), deployment=CRASHING_OLDER),
            Phase.DEPLOYING,
            "Deploying",
        ),
        (
            replace(SIGHT, build_run=run(Phase.BUILDING), deployment=CRASHING),
            Phase.BUILDING,
            "Building",
        ),
        (SERVING, Phase.READY, "Ready"),
        (replace(SERVING, routed=None), Phase.DEPLOYING, "NotRouted"),
        (replace(SERVING, routed=None, deployment=CRASHING), Phase.DEPLOYING, "FunctionCrashed"),
        (
            replace(SERVING, routed=Routed("team", "hello", "u1", 2, "x")),
            Phase.DEPLOYING,
            "NotRouted",
        ),
        (
            Sight(FUNCTION, outcome(Phase.FAILED, "BuildFailed", "")),
            Phase.FAILED,
            "BuildFailed",
        ),
        (Sight(FUNCTION, outcome(Phase.CANCELLED, "Cancelled")), Phase.CANCELLED, "Cancelled"),
        (replace(SERVING, deployment=PUT_BACK), Phase.FAILED, "FunctionCrashed"),
        (
            Sight(FUNCTION, outcome(), repair=outcome(Phase.FAILED, "BuildFailed")),
            Phase.FAILED,
            "BuildFailed",
        ),
    ],
)
def test_phase(sight: Sight, phase: Phase, reason: str) -> None:
    verdict = verdict_for(sight)
    assert (verdict.phase, verdict.reason) == (phase, reason)


@pytest.mark.parametrize("run_phase", [None, Phase.PENDING, Phase.PREPARING, Phase.FAILED])
def test_a_phase_never_falls_back(run_phase: Phase | None) -> None:
    build = run(run_phase) if run_phase else None
    sight = replace(
        SIGHT, previous=Phase.BUILDING, function_run=run(Phase.PENDING), build_run=build
    )
    assert verdict_for(sight).phase is Phase.BUILDING


@pytest.mark.parametrize(
    ("sight", "act"),
    [
        (SIGHT, Act.LOOK),
        (replace(SIGHT, function_run=run(Phase.PENDING)), Act.NOTHING),
        (replace(SIGHT, function_run=replace(run(Phase.PENDING), ask=None)), Act.NOTHING),
        (replace(SIGHT, function_run=replace(run(Phase.BUILDING), ask=OLDER)), Act.LOOK),
        (replace(SIGHT, function=TO_CANCEL, function_run=run(Phase.BUILDING)), Act.LOOK),
        (replace(SERVING, function=TO_CANCEL, function_run=run(Phase.READY)), Act.NOTHING),
        (replace(SIGHT, uploaded=False), Act.NOTHING),
        (
            replace(SIGHT, last_run=run(Phase.BUILDING, state=RunState.TERMINATED)),
            Act.RECORD_TERMINATED,
        ),
        (replace(SIGHT, last_run=run(Phase.FAILED, state=RunState.FAILED)), Act.LOOK),
        (
            replace(
                SIGHT,
                last_run=replace(
                    run(None, state=RunState.TERMINATED), ask=replace(FUNCTION.ask, generation=2)
                ),
            ),
            Act.LOOK,
        ),
        (SERVING, Act.NOTHING),
        (replace(SERVING, deployment=None), Act.LOOK),
        (replace(SERVING, deployment=replace(GOOD, good=None)), Act.LOOK),
        (replace(SERVING, deployment=replace(GOOD, exposed=False)), Act.LOOK),
        (replace(SERVING, deployment=replace(GOOD, revision=OLD)), Act.LOOK),
        (replace(SERVING, deployment=PUT_BACK), Act.NOTHING),
        (
            replace(
                SERVING,
                deployment=replace(
                    GOOD, availability=Availability(Progress.PROGRESSING, "ImageMissing")
                ),
            ),
            Act.LOOK,
        ),
        (
            Sight(FUNCTION, outcome(), repair=outcome(Phase.FAILED, "BuildFailed")),
            Act.LOOK,
        ),
        (Sight(FUNCTION, outcome(Phase.FAILED, "X", ""), deployment=PUT_BACK), Act.NOTHING),
        (
            Sight(
                FUNCTION,
                outcome(Phase.FAILED, "X", ""),
                deployment=replace(GOOD, good=OLD),
            ),
            Act.LOOK,
        ),
    ],
)
def test_act(sight: Sight, act: Act) -> None:
    assert act_for(sight) is act


def status(
    sight: Sight, previous: dict[str, object] | None = None, now: str = "t1"
) -> dict[str, object]:
    return render_status(
        sight, verdict_for(sight), url="http://g/fn/team/hello/", previous=previous or {}, now=now
    )


def conditions(found: dict[str, object]) -> dict[str, tuple[str, str, str]]:
    listed = found["conditions"]
    assert isinstance(listed, list)
    return {
        each["type"]: (each["status"], each["reason"], each["lastTransitionTime"])
        for each in listed
    }


def test_status_of_a_serving_function() -> None:
    found = status(SERVING)
    assert found["image"] == IMAGE
    assert found["servingGeneration"] == 3
    assert {each[0] for each in conditions(found).values()} == {"True"}


def test_status_after_a_put_back() -> None:
    sight = replace(SERVING, outcome=outcome(Phase.FAILED, "FunctionCrashed"))
    found = status(replace(sight, deployment=PUT_BACK, routed=OLD_ROUTED))
    assert found["servingGeneration"] == 2
    shown = conditions(found)
    assert shown["Available"][0] == "True"
    assert shown["Ready"][:2] == ("False", "FunctionCrashed")
    assert shown["Built"][0] == "True"


def test_unchanged_status_is_equal_and_times_move_only_with_their_condition() -> None:
    first = status(SIGHT, now="t1")
    assert status(SIGHT, previous=first, now="t2") == first
    later = status(SERVING, previous=first, now="t2")
    assert {each[2] for each in conditions(later).values()} == {"t2"}
    assert status(SERVING, previous=later, now="t3") == later
