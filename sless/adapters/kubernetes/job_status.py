"""How an attempt fares, from its Job, its pod and the pod's last words: pure."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sless.adapters.kubernetes.build_verdict import (
    judge_base,
    judge_build,
    judge_push,
    out_of_memory,
)
from sless.adapters.kubernetes.pod_reading import (
    asked_to_go,
    condition,
    container_state,
    find_failed,
    find_unfinished,
    has_pushed,
    has_started,
    parse_time,
    started_at,
    turn_came,
)
from sless.adapters.kubernetes.slow_start import Graces, find_job_obstacle, find_obstacle
from sless.errors import (
    BuildFailed,
    BuildLost,
    BuildNotStarted,
    BuildTimedOut,
    OutOfMemory,
    RegistryUnavailable,
    SlessError,
    StorageUnavailable,
    error_for,
)
from sless.model.attempt import CONTAINERS, AttemptState, AttemptStatus
from sless.model.last_words import find_last_words

Object = Mapping[str, Any]

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
_DEADLINE = "DeadlineExceeded"
_TOO_LARGE = re.compile(r"exceed(?:s|ed) (?:the|its)|ephemeral", re.IGNORECASE)
_NEVER_RAN = frozenset({"StartError", "ContainerCannotRun"})
_KILLED = frozenset({137, 143})
"""SIGKILL and SIGTERM from outside."""


def judge_absent(
    job: Object | None, events: Sequence[Object], *, graces: Graces, now: datetime
) -> AttemptStatus:
    """Without a pod: not made yet, or gone."""
    if job is None:
        return _failed(BuildLost("The build's Job is gone."))
    ended = {each["type"]: each for each in _conditions(job) if each.get("status") == "True"}
    if "Complete" in ended:
        return _failed(BuildLost("The build's pod is gone before its digest was read."))
    failed = ended.get("Failed") or ended.get("FailureTarget")
    if failed is None:
        waiting = find_job_obstacle(job, events).judge(graces, now=now)
        told = events or waiting.state is AttemptState.FAILED
        return waiting if told else AttemptStatus(AttemptState.PENDING)
    if failed.get("reason") == _DEADLINE:
        return _failed(_timed_out(job["spec"]["activeDeadlineSeconds"]))
    return _failed(
        BuildLost(f"The build's pod is gone: {failed.get('message', 'nobody says why')}")
    )


def judge_under_way(
    pod: Object, events: Sequence[Object], *, graces: Graces, now: datetime
) -> AttemptStatus:
    """With a pod that is not over."""
    obstacle = None if _is_deleted(pod) else find_obstacle(pod, events)
    if obstacle is not None:
        return obstacle.judge(graces, now=now)
    started = has_started(pod, CONTAINERS[0])
    return AttemptStatus(AttemptState.RUNNING if started else AttemptState.PENDING)


def judge_ended(pod: Object, log: str) -> AttemptStatus:
    """With a pod that is over; `log` is the end of its failed container's."""
    if has_pushed(pod):
        return _succeeded(pod)
    return _failed(_pods_own_end(pod) or _containers_end(pod, log))


def _succeeded(pod: Object) -> AttemptStatus:
    ended = container_state(pod, "push").get("terminated") or {}
    digest = (ended.get("message") or "").strip()
    if not _DIGEST.fullmatch(digest):
        return _failed(BuildLost("The build ended well, but its pod tells no digest."))
    return AttemptStatus(AttemptState.SUCCEEDED, digest=digest)


def _pods_own_end(pod: Object) -> SlessError | None:
    """What was done to the pod as a whole, whatever its containers said meanwhile."""
    status = pod.get("status") or {}
    reason, message = status.get("reason", ""), status.get("message") or ""
    if reason == _DEADLINE:
        return _late(pod)
    if reason == "Evicted" and _TOO_LARGE.search(message) and "low on resource" not in message:
        return BuildFailed(
            f"The build's files grew too large: {message.strip()} Name smaller dependencies, or "
            "have the operator raise SLESS_BUILDER__STORAGE."
        )
    disrupted = condition(pod, "DisruptionTarget").get("status") == "True"
    if reason or disrupted or _was_deleted_before(pod):
        why = message or condition(pod, "DisruptionTarget").get("message") or reason
        return BuildLost(f"The build's pod was ended from outside: {why or 'it was deleted'}")
    return None


def _containers_end(pod: Object, log: str) -> SlessError:
    found = find_failed(pod)
    if found is None:
        return BuildLost("The build's pod failed, and none of its containers says why.")
    name, ended = found
    reason, code = ended.get("reason", ""), ended.get("exitCode", 0)
    if reason == "OOMKilled":
        return out_of_memory(_memory_limit(pod, name), container=name)
    if reason in _NEVER_RAN:
        return BuildNotStarted(f"The container {name} cannot run: {ended.get('message', '')}")
    said = log or ended.get("message") or ""
    judged = _judge_container(name, said=said, told=ended.get("message") or "", pod=pod)
    killed = code in _KILLED or reason == "ContainerStatusUnknown"
    if killed and not isinstance(judged, OutOfMemory):
        return BuildLost(f"The container {name} was killed from outside (exit code {code}).")
    return judged


def _judge_container(name: str, *, said: str, told: str, pod: Object) -> SlessError:
    match name:
        case "build":
            return judge_build(said, memory_limit=_memory_limit(pod, name))
        case "push":
            return judge_push(said)
        case "base":
            return judge_base(said)
        case _:
            return _judge_fetch(told)


def _judge_fetch(told: str) -> SlessError:
    """Its last words are JSON; anything else is a program that was not ours to begin with."""
    words = find_last_words(told)
    if words is None:
        return StorageUnavailable("The build's context could not be fetched; the log says more.")
    return error_for(words.reason, words.message)


def _late(pod: Object) -> SlessError:
    """The deadline is one for all containers; whose time it was says whose fault it is."""
    seconds: int = pod["spec"]["activeDeadlineSeconds"]
    name = find_unfinished(pod)
    turn, start = turn_came(pod, name or CONTAINERS[0]), started_at(pod)
    early = turn is not None and start is not None and (turn - start).total_seconds() < seconds / 2
    if name in {"push", "base"} and early:
        return RegistryUnavailable(
            f"The container {name} did not end within {seconds} s: its registry is too slow."
        )
    if name == "fetch":
        return StorageUnavailable(f"S3 did not give the build's context within {seconds} s.")
    return _timed_out(seconds)


def _timed_out(seconds: int) -> BuildTimedOut:
    return BuildTimedOut(
        f"The build did not end within {seconds} s: name fewer dependencies, or have the operator "
        "raise SLESS_DEADLINES__BUILD."
    )


def _memory_limit(pod: Object, name: str) -> str:
    spec = pod["spec"]
    containers = [*spec.get("initContainers", ()), *spec["containers"]]
    found: Object = next((each for each in containers if each["name"] == name), {})
    return str(found.get("resources", {}).get("limits", {}).get("memory", "share"))


def _is_deleted(pod: Object) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def _was_deleted_before(pod: Object) -> bool:
    """Whether the deletion came before a container's bad end, and so may be what ended it.

    Its exit code does not tell: a program that is the first in its container, and has no say in
    SIGTERM, ends as it likes (Go's do with 2).
    """
    deleted_at = asked_to_go(pod)
    if deleted_at is None:
        return False
    _, ended = find_failed(pod) or ("", {})
    ended_at = parse_time(ended.get("finishedAt"))
    return ended_at is None or ended_at >= deleted_at


def _conditions(job: Object) -> Sequence[Object]:
    return (job.get("status") or {}).get("conditions") or ()


def _failed(error: SlessError) -> AttemptStatus:
    return AttemptStatus(AttemptState.FAILED, reason=error.reason, message=error.message)
