"""EndpointSlices, as the cluster's own controller keeps them: who of a Service is ready; pure."""

import ipaddress
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sless.adapters.kubernetes.connection import Object
from sless.adapters.kubernetes.render_deployment import FUNCTION_LABEL, UID_LABEL

SERVICE_LABEL = "kubernetes.io/service-name"
MANAGED_BY_LABEL = "endpointslice.kubernetes.io/managed-by"
CONTROLLER = "endpointslice-controller.k8s.io"
"""Names pods alone. The one for Services without a selector copies any address somebody wrote."""
_ADDRESS_TYPES = ("IPv4", "IPv6")


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """Where a pod listens."""

    host: str
    """An IP address, without a zone."""
    port: int


@dataclass(frozen=True, slots=True)
class EndpointSlice:
    """Some of a Service's endpoints; all its slices together are the Service's."""

    namespace: str
    service: str
    function: str
    """The Function whose Service it is, by the Service's label; empty for another's."""
    uid: str
    """Likewise."""
    ready: tuple[Address, ...]
    """Those that answer and are not about to end."""
    leaving: tuple[Address, ...] = ()
    """Those that are, and answer still."""


def find_slice(live: Object, *, port: str) -> EndpointSlice | None:
    """The endpoints at the port of that name; None for a slice that anybody could have written."""
    metadata = live["metadata"]
    labels = metadata.get("labels") or {}
    if labels.get(MANAGED_BY_LABEL) != CONTROLLER or not labels.get(SERVICE_LABEL):
        return None
    return EndpointSlice(
        namespace=metadata["namespace"],
        service=labels[SERVICE_LABEL],
        function=labels.get(FUNCTION_LABEL, ""),
        uid=labels.get(UID_LABEL, ""),
        ready=tuple(sorted(_addresses(live, port, of=_is_ready))),
        leaving=tuple(sorted(_addresses(live, port, of=_is_leaving))),
    )


def _is_ready(conditions: Object) -> bool:
    # Silence means ready. A Service may have pods that end count as ready: those are not.
    return conditions.get("ready") is not False and not conditions.get("terminating")


def _is_leaving(conditions: Object) -> bool:
    return bool(conditions.get("serving") and conditions.get("terminating"))


def _addresses(live: Object, port: str, *, of: Callable[[Object], bool]) -> Iterator[Address]:
    number = _find_port(live, port)
    if number is None or live.get("addressType") not in _ADDRESS_TYPES:
        return
    for endpoint in live.get("endpoints") or ():
        if not of(endpoint.get("conditions") or {}):
            continue
        # Further addresses are the same pod's, and have no meaning.
        for host in endpoint.get("addresses", ())[:1]:
            if _is_address(host):
                yield Address(host, number)


def _find_port(live: Object, name: str) -> int | None:
    """None where the pods have none of that name, or none that is TCP."""
    for port in live.get("ports") or ():
        if port.get("name") == name and port.get("protocol", "TCP") == "TCP":
            number: Any = port.get("port")
            return number if isinstance(number, int) else None
    return None


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return "%" not in host
