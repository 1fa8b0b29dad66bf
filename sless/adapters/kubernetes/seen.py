"""What the watcher keeps of a cluster's objects: as much as is judged, and no more. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sless.adapters.kubernetes.function_container import CONTAINER
from sless.adapters.kubernetes.pod_reading import condition
from sless.adapters.kubernetes.read_deployment import read_deployment
from sless.adapters.kubernetes.render_deployment import FUNCTION_LABEL, INSTANCE_LABEL
from sless.adapters.kubernetes.rollout_state import HASH_LABEL, REVISION_ANNOTATION
from sless.errors import InternalError, InvalidSetting
from sless.manifests import parse_function
from sless.model.deployment import Deployment
from sless.model.function import FunctionRef
from sless.naming import resource_name
from sless.ports.functions import StoredFunction

Object = Mapping[str, Any]

_OVER = frozenset({"Succeeded", "Failed"})
"""Phases of a pod whose address may be another's by now."""


@dataclass(frozen=True, slots=True)
class SeenDeployment:
    """A function's Deployment, not judged."""

    deployment: Deployment
    live: Object = field(hash=False)
    """What judging it takes."""

    @property
    def function(self) -> FunctionRef:
        """Whose it is."""
        return FunctionRef(self.deployment.namespace, self.deployment.name)


@dataclass(frozen=True, slots=True)
class SeenPart:
    """A Service, a ReplicaSet or a pod of a function."""

    function: FunctionRef
    live: Object = field(hash=False)
    """What judging it takes."""
    instance: str = ""
    """The revision that a pod runs: `Revision.instance`."""
    addresses: tuple[str, ...] = ()
    """A pod's, while they are its own."""


def read_function(thing: Object) -> StoredFunction | None:
    """A Function without managedFields; none when it is being deleted, and held by a finalizer.

    Raises `InternalError` when it cannot be one.
    """
    if "deletionTimestamp" in thing["metadata"]:
        return None
    metadata = {"labels": {}, "annotations": {}, **thing["metadata"], "managedFields": []}
    whole = {**thing, "metadata": metadata, "status": thing.get("status") or {}}
    try:
        return StoredFunction(parse_function(whole), whole)
    except InvalidSetting as error:
        raise InternalError(f"The Function cannot be read: {error.message}") from error


def read_live_deployment(thing: Object) -> SeenDeployment | None:
    """A function's Deployment; none when its name is not the one we give.

    Raises `InternalError` when it has our name and is not as we write them.
    """
    metadata, status = thing["metadata"], thing.get("status") or {}
    name = (metadata.get("labels") or {}).get(FUNCTION_LABEL, "")
    if metadata["name"] != resource_name(name):
        return None
    live = {
        "metadata": {
            "uid": metadata["uid"],
            "generation": metadata["generation"],
            "annotations": _picked(metadata.get("annotations"), REVISION_ANNOTATION),
            "labels": _picked(metadata["labels"], FUNCTION_LABEL),
            "ownerReferences": _owners(thing),
        },
        "spec": _picked(thing["spec"], "replicas", "progressDeadlineSeconds", "paused"),
        "status": {
            **_picked(status, "observedGeneration"),
            "conditions": _conditions(thing, "Progressing", "ReplicaFailure"),
        },
    }
    return SeenDeployment(read_deployment(thing), live)


def read_service(thing: Object) -> SeenPart | None:
    """A function's Service; none when its name is not the one we give."""
    metadata = thing["metadata"]
    function = _function_of(thing)
    if metadata["name"] != resource_name(function.name):
        return None
    live = {
        "metadata": {
            "labels": metadata["labels"],
            "ownerReferences": _owners(thing),
        },
        "spec": _picked(thing["spec"], "type", "selector", "ports"),
    }
    return SeenPart(function, live)


def read_replica_set(thing: Object) -> SeenPart:
    """A function's ReplicaSet; raises KeyError when its controller did not make it."""
    metadata = thing["metadata"]
    _ = metadata["labels"][HASH_LABEL]
    live = {
        "metadata": {
            "labels": metadata["labels"],
            "annotations": _picked(metadata.get("annotations"), REVISION_ANNOTATION),
            "ownerReferences": _owners(thing),
        },
        "status": _picked(thing.get("status"), "availableReplicas"),
    }
    return SeenPart(_function_of(thing), live)


def read_pod(thing: Object) -> SeenPart:
    """A function's pod."""
    metadata, status = thing["metadata"], thing.get("status") or {}
    own = [each for each in status.get("containerStatuses") or () if each["name"] == CONTAINER]
    live = {
        "metadata": _picked(metadata, "labels", "deletionTimestamp"),
        "status": {
            "conditions": _conditions(thing, "PodScheduled"),
            "containerStatuses": [
                _picked(each, "name", "image", "ready", "state", "lastState", "restartCount")
                for each in own
            ],
        },
    }
    ended = status.get("phase") in _OVER
    addresses = () if ended else tuple(each["ip"] for each in status.get("podIPs") or ())
    instance = metadata["labels"].get(INSTANCE_LABEL, "")
    return SeenPart(_function_of(thing), live, instance=instance, addresses=addresses)


def _function_of(thing: Object) -> FunctionRef:
    metadata = thing["metadata"]
    return FunctionRef(metadata["namespace"], metadata["labels"][FUNCTION_LABEL])


def _owners(thing: Object) -> list[Object]:
    return [_picked(each, "uid") for each in thing["metadata"].get("ownerReferences") or ()]


def _conditions(thing: Object, *kinds: str) -> list[Object]:
    found = (condition(thing, kind) for kind in kinds)
    return [_picked(each, "type", "status", "reason", "message") for each in found if each]


def _picked(thing: Object | None, *names: str) -> dict[str, Any]:
    return {name: thing[name] for name in names if name in thing} if thing else {}
