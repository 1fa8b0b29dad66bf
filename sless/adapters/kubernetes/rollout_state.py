"""How a Deployment's present revision fares, judged on its own ReplicaSet and pods: pure.

The Deployment's `Available` speaks of old pods too, and its `Progressing` names no cause.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from sless.adapters.kubernetes.pod_reading import condition, is_owned
from sless.adapters.kubernetes.pod_trouble import find_hopeless, find_trouble
from sless.errors import FunctionNotStarted, ReadinessTimedOut, SlessError
from sless.model.deployment import Availability, Progress

Object = Mapping[str, Any]

REVISION_ANNOTATION = "deployment.kubernetes.io/revision"
HASH_LABEL = "pod-template-hash"


def judge(live: Object, *, replica_sets: Iterable[Object], pods: Iterable[Object]) -> Availability:
    """The Availability of the live Deployment's present revision.

    Args:
        live: The Deployment.
        replica_sets: Of this Deployment; others are passed over.
        pods: Of the function, old revisions' among them.
    """
    if not _has_caught_up(live):
        return Availability()
    if live["spec"].get("paused"):
        return _told(Progress.PROGRESSING, _paused())
    newest = find_replica_set(live, replica_sets)
    if newest is not None and _is_available(live, newest):
        return Availability(Progress.AVAILABLE) if _wanted(live) else _scaled_down()
    own = _pods_of(newest, pods)
    hopeless = find_hopeless(own)
    if hopeless is not None:
        return _told(Progress.FAILED, hopeless)
    trouble = find_trouble(own) or _find_refusal(live)
    if _is_out_of_time(live):
        return _told(Progress.FAILED, trouble or _not_ready(live))
    return Availability() if trouble is None else _told(Progress.PROGRESSING, trouble)


def find_replica_set(live: Object, replica_sets: Iterable[Object]) -> Object | None:
    """The ReplicaSet of the present revision; none before the cluster made it."""
    uid, number = live["metadata"]["uid"], _annotation(live, REVISION_ANNOTATION)
    return next(
        (
            each
            for each in replica_sets
            if number and _annotation(each, REVISION_ANNOTATION) == number and is_owned(each, uid)
        ),
        None,
    )


def _has_caught_up(live: Object) -> bool:
    """Whether the status speaks of what was written last."""
    observed = (live.get("status") or {}).get("observedGeneration", 0)
    return bool(observed >= live["metadata"]["generation"])


def _is_available(live: Object, replica_set: Object) -> bool:
    """Whether as many pods serve it as there should be; 0 are enough only when 0 are wanted."""
    available = (replica_set.get("status") or {}).get("availableReplicas", 0)
    return bool(available >= _wanted(live))


def _wanted(live: Object) -> int:
    return int(live["spec"].get("replicas", 1))


def _is_out_of_time(live: Object) -> bool:
    progressing = condition(live, "Progressing")
    return bool(progressing.get("reason") == "ProgressDeadlineExceeded")


def _find_refusal(live: Object) -> SlessError | None:
    """Why the cluster makes no pod at all, such as a quota or a policy."""
    failure = condition(live, "ReplicaFailure")
    if failure.get("status") != "True":
        return None
    return FunctionNotStarted(f"The cluster makes no pod: {failure.get('message', '')}")


def _paused() -> SlessError:
    """Its newest ReplicaSet may still be that of an older template."""
    return FunctionNotStarted("The Deployment is paused: resume it by `kubectl rollout resume`.")


def _scaled_down() -> Availability:
    """All there should be is there; who waits for an answer is told why none comes."""
    why = "The Deployment is scaled to 0, so that nothing answers: `kubectl scale` it up."
    return _told(Progress.AVAILABLE, FunctionNotStarted(why))


def _not_ready(live: Object) -> SlessError:
    seconds = live["spec"].get("progressDeadlineSeconds")
    return ReadinessTimedOut(f"The function was not ready within {seconds} s.")


def _told(progress: Progress, trouble: SlessError) -> Availability:
    return Availability(progress, trouble.reason, trouble.message)


def _pods_of(replica_set: Object | None, pods: Iterable[Object]) -> list[Object]:
    if replica_set is None:
        return []
    wanted = replica_set["metadata"]["labels"][HASH_LABEL]
    return [pod for pod in pods if pod["metadata"]["labels"].get(HASH_LABEL) == wanted]


def _annotation(thing: Object, name: str) -> str:
    return str((thing["metadata"].get("annotations") or {}).get(name, ""))
