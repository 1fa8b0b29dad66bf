"""What the failure of an activity means to a workflow."""

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from sless.errors import InternalError, error_for


def told(error: ActivityError) -> tuple[str, str]:
    """Reason and message; what is no failure of the tree is a defect of ours."""
    cause = error.cause
    if isinstance(cause, ApplicationError):
        return cause.type or InternalError.reason, cause.message
    return InternalError.reason, f"{error.message}: {cause}"


def worth_another(error: ActivityError) -> bool:
    """Whether a new attempt may succeed with nothing changed by a person."""
    return not is_cancelled_exception(error) and error_for(*told(error)).retryable


def is_defect(error: ActivityError) -> bool:
    """Whether nobody but us can do anything about it."""
    return isinstance(error_for(*told(error)), InternalError)
