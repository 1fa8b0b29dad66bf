"""How a rollout goes on, and what is put back."""

from dataclasses import replace

from sless.decide.rollout import (
    AwaitForeign,
    Create,
    Judged,
    RolloutGoal,
    RolloutStep,
    Served,
    Stop,
    Swap,
    Wait,
    put_back_step,
    rollout_step,
)
from sless.model.deployment import Availability, Deployment, FailedNote, Progress, wanted_revision
from sless.model.function import Function, FunctionSpec
from sless.naming import S3Key, build_id

KEY = str(S3Key("team", "hello", "a" * 64, "python3.11"))
BUILD = build_id(KEY)
GOAL = RolloutGoal("u1", KEY, BUILD, "r@sha256:aa")
CRASHED = Availability(Progress.FAILED, "FunctionCrashed", "ValueError: x")


def function(generation: int = 2, uid: str = "u1", key: str = KEY) -> Function:
    return Function("team", "hello", uid, generation, "1", FunctionSpec(key, "python3.11"))


NEW = wanted_revision(function(), image=GOAL.image, build=BUILD)
OLD = replace(NEW, image="r@sha256:00", build="000000000000")


def deployment(**changes: object) -> Deployment:
    whole = Deployment("team", "hello", function().ask, NEW, uid="d1", resource_version="3")
    return replace(whole, **changes)  # type: ignore[arg-type]


def step(found: Deployment | None, of: Function | None = None) -> RolloutStep:
    return rollout_step(GOAL, function=of or function(), deployment=found)


def test_absent_is_created() -> None:
    assert step(None) == Create(Deployment("team", "hello", function().ask, NEW))


def test_gone_and_superseded_stop() -> None:
    assert rollout_step(GOAL, function=None, deployment=None) == Stop(
        "OwnerGone", "The Function was deleted."
    )
    assert isinstance(step(None, function(uid="u2")), Stop)
    assert step(None, function(key="other")) == Stop(
        "Superseded", "Generation 2 asks for another upload."
    )


def test_a_newer_annotation_stops() -> None:
    newer = replace(function().ask, generation=3)
    assert isinstance(step(deployment(ask=newer)), Stop)


def test_a_foreign_one_is_awaited() -> None:
    foreign = deployment(ask=replace(function().ask, uid="u0"))
    assert step(foreign) == AwaitForeign(foreign)


def test_the_newest_settings_are_rendered_over_the_version_that_was_read() -> None:
    old = deployment(ask=function(1).ask, revision=OLD, good=OLD)
    assert step(old) == Swap(replace(old, ask=function().ask, revision=NEW))


def test_equal_settings_change_the_ask_alone() -> None:
    good = deployment(ask=function(1).ask, good=NEW)
    assert step(good) == Swap(replace(good, ask=function().ask, good_generation=2))


def test_unjudged_waits_then_is_marked_good_then_serves() -> None:
    assert isinstance(step(deployment()), Wait)
    up = deployment(availability=Availability(Progress.AVAILABLE))
    assert step(up) == Swap(replace(up, good=NEW, good_generation=2))
    assert step(deployment(good=NEW)) == Served(function().ask, NEW)


def test_what_calls_do_not_find_is_written_again() -> None:
    hidden = deployment(good=NEW, exposed=False)
    assert step(hidden) == Swap(hidden)


def test_a_failed_one_is_put_back_with_a_note() -> None:
    failed = deployment(good=OLD, availability=CRASHED)
    note = FailedNote(function().ask, NEW.hash, "FunctionCrashed", "ValueError: x")
    back = step(failed)
    assert back == Swap(replace(failed, revision=OLD, failed=note))
    assert isinstance(back, Swap)
    assert step(back.deployment) == Judged(note)


def test_a_first_one_that_failed_stays_noted() -> None:
    failed = deployment(availability=CRASHED)
    back = step(failed)
    assert isinstance(back, Swap)
    assert back.deployment.revision == NEW
    assert back.deployment.failed is not None


def test_asked_for_again_it_starts_anew() -> None:
    note = FailedNote(function(1).ask, NEW.hash, "FunctionCrashed", "")
    for good, revision in ((OLD, OLD), (None, NEW)):
        found = deployment(ask=function(1).ask, revision=revision, good=good, failed=note)
        again = step(found)
        assert isinstance(again, Swap)
        assert again.deployment.revision == replace(NEW, retry=2)
        assert again.deployment.failed is None


def test_a_later_failure_of_a_good_revision_is_no_failed_rollout() -> None:
    assert isinstance(step(deployment(good=NEW, availability=CRASHED)), Served)


def put_back(found: Deployment | None, generation: int = 2) -> Swap | None:
    return put_back_step(
        function(generation).ask, reason="Cancelled", message="m", deployment=found
    )


def test_put_back() -> None:
    back = put_back(deployment(good=OLD))
    note = FailedNote(function().ask, NEW.hash, "Cancelled", "m")
    assert back == Swap(deployment(good=OLD, revision=OLD, failed=note))
    assert back is not None
    assert put_back(back.deployment) is None


def test_what_was_put_back_and_calls_do_not_find_is_written_again() -> None:
    back = put_back(deployment(good=OLD))
    assert back is not None
    hidden = replace(back.deployment, exposed=False)
    assert put_back(hidden) == Swap(hidden)


def test_nothing_to_put_back() -> None:
    assert put_back(None) is None
    assert put_back(deployment(good=NEW)) is None
    newer = deployment(good=OLD, exposed=False)
    assert put_back(newer, generation=1) is None, "it is a newer ask's"
    assert put_back(deployment(ask=replace(function().ask, uid="u0"), good=OLD)) is None


def test_a_first_one_is_noted_once() -> None:
    back = put_back(deployment())
    assert back is not None
    assert back.deployment.revision == NEW
    assert put_back(back.deployment) is None
