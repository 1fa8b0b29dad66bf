"""What Temporal is told of an error of the tree."""

from typing import Any

import pytest
from temporalio.api.failure.v1 import Failure
from temporalio.converter import default
from temporalio.exceptions import ApplicationError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from activities.failures import Failures
from sless.errors import RegistryUnavailable

SHOWN_BYTES = 2048
"""Of a failed attempt that is tried again, Temporal's server keeps a failure up to this size."""


class Broken(ActivityInboundInterceptor):
    """An activity that fails deep within a client."""

    def __init__(self) -> None:
        pass

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002  # the SDK's signature
        del input
        try:
            fall(100)
        except OSError as error:
            raise RegistryUnavailable("The registry at r.test does not answer.") from error


def fall(depth: int) -> None:
    if not depth:
        raise OSError("refused")
    try:
        fall(depth - 1)
    except OSError as error:
        raise OSError(f"at {depth}") from error


async def test_temporal_can_show_why_a_step_is_tried_again() -> None:
    translating = Failures().intercept_activity(Broken())
    given: Any = None
    with pytest.raises(ApplicationError) as raised:
        await translating.execute_activity(given)
    failure = Failure()
    converter = default()
    converter.failure_converter.to_failure(raised.value, converter.payload_converter, failure)
    assert failure.message == "The registry at r.test does not answer."
    assert failure.application_failure_info.type == "RegistryUnavailable"
    assert failure.ByteSize() < SHOWN_BYTES
