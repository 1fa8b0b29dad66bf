"""How the runner's row of a revision judges it: a pure function."""

from sless.errors import FunctionCrashed, ReadinessTimedOut
from sless.model.deployment import Availability, Progress
from sless.model.instance import Instance, InstanceState

RESTARTS_MAX = 3
"""Restarts after which a revision that was never good has failed."""


def judge(instance: Instance | None, *, good: bool, deadline: float, now: float) -> Availability:
    """The Availability of a Deployment's present revision.

    Args:
        instance: The runner's row for it; none before the runner took it up.
        good: Whether the revision was marked good: its later crashes are no failed rollout.
        deadline: Seconds that one start may take.
        now: Seconds since the epoch.
    """
    if instance is None:
        return Availability()
    if instance.state is InstanceState.READY:
        return Availability(Progress.AVAILABLE)
    struggling = Availability(Progress.PROGRESSING, instance.reason, instance.message)
    if good:
        return struggling
    if instance.restarts >= RESTARTS_MAX:
        return Availability(
            Progress.FAILED, instance.reason or FunctionCrashed.reason, instance.message
        )
    if instance.state is InstanceState.STARTING and now - instance.since > deadline:
        return Availability(
            Progress.FAILED,
            instance.reason or ReadinessTimedOut.reason,
            instance.message or f"The function was not ready within {deadline:.0f} s.",
        )
    return struggling
