"""Values of variables stay out of histories, and nothing else changes for the decision."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sless.model.deployment import Deployment, wanted_revision
from sless.model.function import EnvVar, Function, FunctionSpec
from sless.model.veil import veiled_deployment, veiled_function

ENV = st.lists(st.builds(EnvVar, st.sampled_from("ABC"), st.text(max_size=5)), max_size=3)


def function(env: list[EnvVar]) -> Function:
    return Function(
        "n", "f", "u", 1, "1", FunctionSpec("k", "python3.11", env=tuple(env)), {"a": "secret"}
    )


def deployment(of: Function) -> Deployment:
    revision = wanted_revision(of, image="i@sha256:0", build="b")
    return Deployment("n", "f", of.ask, revision, good=revision)


def test_no_value_is_left() -> None:
    whole = function([EnvVar("PASSWORD", "hunter2")])
    for veiled in (veiled_function(whole), veiled_deployment(deployment(whole))):
        assert "hunter2" not in repr(veiled)
        assert "secret" not in repr(veiled)
        assert "PASSWORD" in repr(veiled)


def test_the_cancel_annotation_stays() -> None:
    cancelled = replace(function([]), annotations={"sless.io/cancel": "1", "other": "x"})
    assert veiled_function(cancelled).cancel_wanted


@given(ENV, ENV)
def test_veiled_hashes_are_equal_exactly_when_the_real_ones_are(
    one: list[EnvVar], other: list[EnvVar]
) -> None:
    real = deployment(function(one)).revision.hash == deployment(function(other)).revision.hash
    wanted = wanted_revision(veiled_function(function(one)), image="i@sha256:0", build="b")
    veiled = veiled_deployment(deployment(function(other))).revision
    assert (wanted.hash == veiled.hash) == real == (one == other)
