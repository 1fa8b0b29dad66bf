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

QUICK: dict[str, Any] = {
    "start_to_close_timeout": timedelta(seconds=60),
    "retry_policy": RETRY,
}
"""A few calls to S3, the store or the registry."""

FOLLOWING: dict[str, Any] = {
    "start_to_close_timeout": timedelta(hours=2),
    "heartbeat_timeout": timedelta(seconds=12),
    "retry_policy": RETRY,
    "cancellation_type": ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
}
"""Follows something that has its own deadline. 12 s: four beats, so that a busy machine is no dead
worker, and a dead one is noticed soon. A cancelled one is waited for: it cleans up."""

BUILD_ATTEMPTS = 5
"""Attempts at a build whose Job was lost or whose registry was away; user faults have one."""

ATTEMPT_BACKOFF_SECONDS = (2, 8, 30, 60)
"""Between one attempt and the next."""
