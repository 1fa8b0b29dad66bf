"""Why a build's pod does not start, and how long that is put up with: pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sless.adapters.kubernetes.events import newest_warning, why_waiting
from sless.adapters.kubernetes.pod_reading import (
    condition,
    container_state,
    has_started,
    made_at,
    parse_time,
    turn_came,
)
from sless.errors import BuildNotStarted, UserNamespacesUnsupported
from sless.model.attempt import CONTAINERS, AttemptState, AttemptStatus

Object = Mapping[str, Any]

_HOPELESS = frozenset({"InvalidImageName", "ErrImageNeverPull"})
"""What no waiting mends."""
_ORDINARY = frozenset({"", "ContainerCreating", "PodInitializing"})
_NODE_TROUBLE = (
    *("FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "NetworkNotReady"),
    "FailedCreatePodContainer",
)
"""Told by events alone, while the pod's containers are being created."""
_UNSCHEDULABLE = "Unschedulable"
_OVER_QUOTA = "exceeded quota"
"""In the API server's words; what others hold of it they will let go."""


@dataclass(frozen=True, slots=True)
class Graces:
    """How long a pod may fail to start, in seconds."""

    unschedulable: float = 600.0
    """Without a node: an autoscaler may be adding one. Or without room in a quota."""
    other: float = 120.0
    """Images that cannot be pulled, volumes that are not there."""

    def of(self, reason: str, message: str) -> float:
        """For what is in the way."""
        if reason in _HOPELESS:
            return 0.0
        no_room = reason == _UNSCHEDULABLE or _OVER_QUOTA in message
        return self.unschedulable if no_room else self.other


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What is in the way."""

    reason: str
    """Kubernetes' word."""
    message: str
    since: datetime | None

    def judge(self, graces: Graces, *, now: datetime) -> AttemptStatus:
        """Pending within its grace, then failed; either way with the cluster's own words."""
        grace = graces.of(self.reason, self.message)
        waited = (now - self.since).total_seconds() if self.since else 0.0
        lacks = "user namespace" in self.message
        kind = UserNamespacesUnsupported if lacks else BuildNotStarted
        told = f"{self.reason}: {self.message}" if self.message else self.reason
        if waited < grace:
            return AttemptStatus(
                AttemptState.PENDING,
                reason=kind.reason,
                message=f"The build's pod cannot start yet: {told}",
            )
        return AttemptStatus(
            AttemptState.FAILED,
            reason=kind.reason,
            message=f"The build's pod could not start within {grace:g} s: {told}",
        )


def find_obstacle(pod: Object, events: Sequence[Object]) -> Obstacle | None:
    """What keeps a pod that is not over from going on, if anything does."""
    return _waiting_container(pod, events) or _no_node(pod) or _node_trouble(pod, events)


def find_job_obstacle(job: Object, events: Sequence[Object]) -> Obstacle:
    """Why a Job that is not over has no pod."""
    event = newest_warning(events)
    if event is None:
        return Obstacle("NoPod", "the Job has no pod yet.", made_at(job))
    return Obstacle(event.get("reason", ""), event.get("message", ""), made_at(job))


def may_have_obstacle(pod: Object) -> bool:
    """Whether events are worth asking for."""
    return not has_started(pod, CONTAINERS[0]) or _waiting_container(pod, ()) is not None


def _waiting_container(pod: Object, events: Sequence[Object]) -> Obstacle | None:
    for name in CONTAINERS:
        waiting = container_state(pod, name).get("waiting") or {}
        reason = waiting.get("reason", "")
        if reason not in _ORDINARY:
            text = why_waiting(reason, waiting.get("message", ""), events)
            return Obstacle(reason, f"{text} (container {name})", turn_came(pod, name))
    return None


def _no_node(pod: Object) -> Obstacle | None:
    scheduled = condition(pod, "PodScheduled")
    if scheduled.get("status") != "False":
        return None
    since = parse_time(scheduled.get("lastTransitionTime"))
    return Obstacle(scheduled.get("reason", ""), scheduled.get("message", ""), since)


def _node_trouble(pod: Object, events: Sequence[Object]) -> Obstacle | None:
    event = newest_warning(events, *_NODE_TROUBLE)
    if event is None or has_started(pod, CONTAINERS[0]):
        return None
    return Obstacle(event["reason"], event.get("message", ""), turn_came(pod, CONTAINERS[0]))
