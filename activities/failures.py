"""The Temporal boundary: errors of the tree become failures that Temporal UI can show."""

from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError, FailureError
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
)

from sless.errors import InternalError, SlessError

DEFECT_ATTEMPTS = 5
"""An unexpected exception is most likely a defect of ours: it is not retried for ever."""


def failure_of(error: SlessError) -> ApplicationError:
    """The failure by which Temporal knows an error: its type is the reason."""
    return ApplicationError(error.message, type=error.reason, non_retryable=not error.retryable)


class Failures(Interceptor):
    """Translates what activities raise, once, for all of them."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002  # the SDK's name
        """Puts the translation around each activity."""
        return _Translating(next)


class _Translating(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002  # the SDK's signature
        try:
            return await super().execute_activity(input)
        except FailureError:
            raise
        except SlessError as error:
            # With a client's own tracebacks it would be over 2 KiB, and of a step that is tried
            # again Temporal would show "Failure exceeds size limit" and no reason.
            raise failure_of(error) from None
        except Exception as error:
            activity.logger.exception("activity failed unexpectedly")
            raise ApplicationError(
                f"{type(error).__name__}: {error}",
                type=InternalError.reason,
                non_retryable=activity.info().attempt >= DEFECT_ATTEMPTS,
            ) from error
