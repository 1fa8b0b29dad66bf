"""Where each function's requests go on Kubernetes: to whatever is ready; pure."""

import contextlib
from collections import defaultdict
from collections.abc import Iterable

from sless.adapters.kubernetes.endpoint_slices import EndpointSlice
from sless.errors import InvalidName
from sless.gateway.route import Endpoint, Route
from sless.naming import resource_name

HTTP_PORT = "http"
"""The port's name in a function's Service."""


def compute_routes(slices: Iterable[EndpointSlice]) -> tuple[Route, ...]:
    """A route for each function that has a Service, in the order of their names.

    A function's slices are those of the Service that we made for it: another that bears its label
    cannot take part in its calls. While nobody is ready, those that leave are better than nobody:
    an evicted pod answers for as long as another takes to start, as kube-proxy has it too.
    """
    functions: dict[tuple[str, str], list[EndpointSlice]] = defaultdict(list)
    for one in slices:
        if one.function and one.service == resource_name(one.function):
            functions[one.namespace, one.function].append(one)
    routes = []
    for _, group in sorted(functions.items()):
        # Someone wrote that label by hand: no Function can have the name.
        with contextlib.suppress(InvalidName):
            routes.append(_route(group))
    return tuple(routes)


def _route(group: list[EndpointSlice]) -> Route:
    ready = {address for one in group for address in one.ready}
    leaving = {address for one in group for address in one.leaving}
    return Route(
        namespace=group[0].namespace,
        name=group[0].function,
        # One for all, but for the moment in which the cluster renews one slice after the other.
        uid=max(one.uid for one in group),
        generation=None,
        endpoints=tuple(
            Endpoint(address.host, address.port) for address in sorted(ready or leaving)
        ),
    )
