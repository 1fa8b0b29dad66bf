import pytest

from sless.cli.exits import Exit, exit_for
from sless.errors import (
    BadRequest,
    Ended,
    InternalError,
    Misconfigured,
    Refusal,
    SlessError,
    Transient,
    UserFault,
    leaves,
)


@pytest.mark.parametrize("leaf", leaves())
def test_every_reason_has_an_exit_code(leaf: type[SlessError]) -> None:
    wrong_use = issubclass(leaf, BadRequest)
    assert (exit_for(leaf.reason) is Exit.USAGE) == wrong_use
    assert (exit_for(leaf.reason) is Exit.UNREACHABLE) == issubclass(leaf, Transient)
    kinds = (UserFault, Refusal, Misconfigured, Ended, InternalError)
    failed = issubclass(leaf, kinds) and not wrong_use
    assert (exit_for(leaf.reason) is Exit.FAILED) == failed


def test_a_reason_of_a_newer_server_is_a_failure() -> None:
    assert exit_for("InventedLater") is Exit.FAILED
