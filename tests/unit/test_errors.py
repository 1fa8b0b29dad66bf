"""The error tree: leaves are reasons, and each boundary knows every one."""

import re

import pytest

from activities.failures import failure_of
from sless import errors
from sless.errors import InternalError, SlessError, Transient, UserFault, error_for, leaves

LEAVES = leaves()


@pytest.mark.parametrize("leaf", LEAVES)
def test_a_leaf_is_its_reason(leaf: type[SlessError]) -> None:
    assert leaf.reason == leaf.__name__
    assert re.fullmatch(r"([A-Z][a-z0-9]+)+", leaf.reason.replace("S3", "S"))
    assert isinstance(error_for(leaf.reason, "m"), leaf)
    assert leaf.__doc__


@pytest.mark.parametrize("leaf", LEAVES)
def test_the_docstring_draws_it(leaf: type[SlessError]) -> None:
    assert leaf.__name__ in (errors.__doc__ or "")


def test_reasons_are_unique() -> None:
    assert len({leaf.reason for leaf in LEAVES}) == len(LEAVES)


@pytest.mark.parametrize("leaf", LEAVES)
def test_temporal_is_told_the_reason_and_whether_to_retry(leaf: type[SlessError]) -> None:
    failure = failure_of(leaf("what happened"))
    assert failure.type == leaf.reason
    assert failure.message == "what happened"
    assert failure.non_retryable is not issubclass(leaf, Transient)


@pytest.mark.parametrize("leaf", LEAVES)
def test_statuses_fit_their_kind(leaf: type[SlessError]) -> None:
    if issubclass(leaf, UserFault):
        assert 400 <= leaf.status < 500
        assert not leaf.retryable
    if issubclass(leaf, Transient):
        assert leaf.status >= 500


def test_an_unknown_reason_is_a_defect() -> None:
    assert isinstance(error_for("Whatever", "m"), InternalError)
