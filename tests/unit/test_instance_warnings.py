"""Rows of processes, and the warnings they make: a table."""

import pytest

from sless.adapters.sqlite.warnings import find_warnings
from sless.model.deployment import Revision
from sless.model.instance import Instance, InstanceState

REVISION = Revision(image="x@sha256:1", build="0" * 12, runtime="python3.11")
NOW = 10_000.0


@pytest.mark.parametrize(
    ("state", "restarts", "reason", "ago", "told"),
    [
        (InstanceState.STARTING, 0, "", 1, None),
        (InstanceState.READY, 0, "", 1, None),
        (InstanceState.CRASHED, 2, "HandlerImportFailed", 1, ("HandlerImportFailed", 2)),
        (InstanceState.CRASHED, 2, "HandlerImportFailed", 9000, ("HandlerImportFailed", 2)),
        (InstanceState.STARTING, 1, "FunctionCrashed", 1, ("FunctionCrashed", 1)),
        (InstanceState.READY, 3, "", 3600, ("FunctionCrashed", 3)),
        (InstanceState.READY, 3, "", 3601, None),
        (InstanceState.DRAINING, 3, "FunctionCrashed", 1, None),
    ],
)
def test_what_a_process_went_through(
    state: InstanceState, restarts: int, reason: str, ago: float, told: tuple[str, int] | None
) -> None:
    row = Instance(
        "team", "hello", "d", REVISION, state, since=NOW - ago, restarts=restarts, reason=reason
    )
    found = find_warnings([row], now=NOW)
    assert [(each.reason, each.count) for each in found] == ([told] if told else [])
    assert all(each.about == f"process {REVISION.instance}" and each.message for each in found)
