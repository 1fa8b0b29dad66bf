"""Whether a function's Service and Deployment are known as the function's own: pure."""

from collections.abc import Mapping
from typing import Any

from sless.adapters.kubernetes.pod_reading import is_owned
from sless.adapters.kubernetes.render_deployment import FUNCTION_LABEL, render_service
from sless.adapters.kubernetes.resources import FUNCTIONS
from sless.model.deployment import Deployment

Object = Mapping[str, Any]

_ELSEWHERE = "ExternalName"
"""The type of a Service that names no pods, whatever it selects."""


def is_exposed(deployment: Deployment, service: Object | None) -> bool:
    """Whether that Service leads to the Deployment's pods, under our labels.

    What others add is theirs, a word in the selector aside: that one hides pods.
    """
    if service is None:
        return False
    wanted, spec = render_service(deployment), service["spec"]
    labels = service["metadata"].get("labels") or {}
    return (
        wanted["metadata"]["labels"].items() <= labels.items()
        and is_owned(service, deployment.ask.uid)
        and spec.get("type") != _ELSEWHERE
        and spec.get("selector") == wanted["spec"]["selector"]
        and all(_has(spec, port) for port in wanted["spec"]["ports"])
    )


def is_found(deployment: Deployment, *, live: Object, service: Object | None) -> bool:
    """Whether calls find its pods, and we the live Deployment: what `Deployment.exposed` tells."""
    return is_exposed(deployment, service) and is_marked(deployment, live)


def is_foreign(service: Object) -> bool:
    """Whether nothing in it says that it is a function's: neither our label nor its owner."""
    metadata = service["metadata"]
    owners = metadata.get("ownerReferences") or ()
    owned = any(_kind_of(each) == (FUNCTIONS.api_version, FUNCTIONS.kind) for each in owners)
    return not owned and FUNCTION_LABEL not in (metadata.get("labels") or {})


def is_marked(deployment: Deployment, live: Object) -> bool:
    """Whether the live Deployment has our label, by which the watcher sees it, and its owner.

    Without the latter it would outlive its Function.
    """
    labels = live["metadata"].get("labels") or {}
    return labels.get(FUNCTION_LABEL) == deployment.name and is_owned(live, deployment.ask.uid)


def _kind_of(owner: Object) -> tuple[str, str]:
    return owner["apiVersion"], owner["kind"]


def _has(spec: Object, port: Object) -> bool:
    return any(port.items() <= each.items() for each in spec.get("ports") or ())
