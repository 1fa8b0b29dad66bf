"""Timeouts and retries of activities: numbers with their reasons, in one place."""

from datetime import timedelta
from typing import Any

from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityCancellationType

RETRY = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=30),
)
"""For ever: an outage of S3 or of the API server must not lose a build. User faults and what the
registry or a Job says for good are raised as not retryable."""

REGISTRY_PATIENCE = timedelta(minutes=10)
"""For a registry that is away. A build whose zip waits for it says so, and may be cancelled."""

REGISTRY_PAUSE = timedelta(seconds=30)
"""The longest between asking it and asking it again."""

QUICK: dict[str, Any] = {
    "start_to_close_timeout": timedelta(seconds=60),
    "retry_policy": RETRY,
}
"""A few calls to S3 or the store."""

REGISTRY: dict[str, Any] = QUICK | {
    "retry_policy": RetryPolicy(
        initial_interval=timedelta(seconds=1),
        backoff_coefficient=2.0,
        maximum_interval=REGISTRY_PAUSE,
        maximum_attempts=20,
    ),
}
"""Calls to the registry: tried for some eight minutes, and longer if it takes its time to fail."""

FOLLOWING: dict[str, Any] = {
    "start_to_close_timeout": timedelta(hours=2),
    "heartbeat_timeout": timedelta(seconds=12),
    "retry_policy": RETRY,
    "cancellation_type": ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
}
"""Follows something that has its own deadline. 12 s: four beats, so that a busy machine is no dead
worker, and a dead one is noticed soon. A cancelled one is waited for: it cleans up."""


def pause_before_asking(away: timedelta) -> timedelta | None:
    """Until a registry that was away for so long is asked again; none when it is given up.

    As long again as it has been away: ever later.
    """
    if away >= REGISTRY_PATIENCE:
        return None
    return min(max(away, timedelta(seconds=1)), REGISTRY_PAUSE)


BUILD_ATTEMPTS = 5
"""Attempts at a build whose Job was lost or whose registry was away; user faults have one."""

ATTEMPT_BACKOFF_SECONDS = (2, 8, 30, 60)
"""Between one attempt and the next."""
