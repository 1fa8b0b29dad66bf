"""What pods say of themselves, builds' above all; conditions and owners of anything: pure."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from sless.model.attempt import CONTAINERS

Object = Mapping[str, Any]


def container_state(pod: Object, name: str) -> Object:
    """`{"waiting" | "running" | "terminated": {…}}`; empty while nothing is known."""
    return next((each.get("state") or {} for each in _statuses(pod) if each["name"] == name), {})


def has_started(pod: Object, name: str) -> bool:
    """Whether the container has, or had, a process: then it has a log."""
    state = container_state(pod, name)
    # A container that the kubelet could not start has ended too, without ever having begun.
    return "running" in state or bool(state.get("terminated", {}).get("startedAt"))


def has_ended(pod: Object, name: str) -> bool:
    """Whether the container's process is over; a build's container is never started again."""
    return "terminated" in container_state(pod, name)


def find_failed(pod: Object) -> tuple[str, Object] | None:
    """The first container that ended badly, and how."""
    for name in CONTAINERS:
        ended = container_state(pod, name).get("terminated")
        if ended is not None and ended.get("exitCode", 0) != 0:
            return name, ended
    return None


def find_unfinished(pod: Object) -> str | None:
    """The container that had begun and not ended well; none where that is not known."""
    return next(
        (
            name
            for name in CONTAINERS
            if has_started(pod, name)
            and container_state(pod, name).get("terminated", {}).get("exitCode") != 0
        ),
        None,
    )


def is_over(pod: Object) -> bool:
    """Whether its end is settled, be it that a neighbour or the kubelet still cleans up."""
    phase = (pod.get("status") or {}).get("phase")
    return phase in {"Succeeded", "Failed"} or has_pushed(pod) or find_failed(pod) is not None


def has_pushed(pod: Object) -> bool:
    """Whether the last container ended well."""
    ended = container_state(pod, CONTAINERS[-1]).get("terminated") or {}
    return bool(ended.get("exitCode") == 0)


def condition(pod: Object, kind: str) -> Object:
    """A condition; empty where there is none of that kind."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each["type"] == kind), {})


def is_owned(thing: Object, uid: str) -> bool:
    """Whether the object of that uid is among its owners."""
    return any(each["uid"] == uid for each in thing["metadata"].get("ownerReferences") or ())


def turn_came(pod: Object, name: str) -> datetime | None:
    """When the container could have started: the pod's start, or the end of the one before."""
    before = CONTAINERS[: CONTAINERS.index(name)]
    ends = [container_state(pod, each).get("terminated", {}).get("finishedAt") for each in before]
    last = next((end for end in reversed(ends) if end), None)
    return parse_time(last) or started_at(pod)


def started_at(pod: Object) -> datetime | None:
    """When the kubelet took it up."""
    return parse_time((pod.get("status") or {}).get("startTime"))


def made_at(thing: Object) -> datetime | None:
    """When an object was created."""
    return parse_time(thing["metadata"].get("creationTimestamp"))


def asked_to_go(pod: Object) -> datetime | None:
    """When it was deleted: Kubernetes notes when its grace will be over. To the second."""
    metadata = pod["metadata"]
    over = parse_time(metadata.get("deletionTimestamp"))
    grace = timedelta(seconds=metadata.get("deletionGracePeriodSeconds") or 0)
    return over - grace if over is not None else None


def parse_time(text: str | None) -> datetime | None:
    """A Kubernetes timestamp."""
    return datetime.fromisoformat(text) if text else None


def _statuses(pod: Object) -> Iterator[Object]:
    status = pod.get("status") or {}
    yield from status.get("initContainerStatuses") or ()
    yield from status.get("containerStatuses") or ()
