"""Where each function's requests go: pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sless.gateway.route import Endpoint, Route
from sless.model.deployment import Deployment
from sless.model.instance import Instance, InstanceState
from sless.model.routed import Routed


@dataclass(frozen=True, slots=True)
class Routing:
    """What Envoy is to be told, and what is noted once it took that."""

    routes: tuple[Route, ...]
    routed: tuple[Routed, ...]
    """Of the functions that something answers for."""


def compute_routing(
    deployments: Iterable[Deployment],
    instances: Iterable[Instance],
    noted: Iterable[Routed],
    *,
    host: str,
) -> Routing:
    """Sends each function's requests to its present revision once that is ready.

    Until then, and when it crashed, to the newest other one that is ready; else to nothing.
    `noted` tells which ask an older revision was routed for, `host` where processes listen.
    """
    ready: dict[str, list[Instance]] = defaultdict(list)
    for instance in instances:
        if instance.state is InstanceState.READY:
            ready[instance.deployment_uid].append(instance)
    known = {(one.uid, one.instance): one.generation for one in noted}
    routes, routed = [], []
    for deployment in deployments:
        chosen = _choose(deployment, ready[deployment.uid])
        taken = _routed(deployment, chosen, known) if chosen else None
        routes.append(_route(deployment, taken, host=host))
        routed += [taken] if taken else []
    return Routing(tuple(routes), tuple(routed))


def _choose(deployment: Deployment, ready: Sequence[Instance]) -> Instance | None:
    wanted = deployment.revision.instance
    return max(ready, key=lambda one: (one.instance == wanted, one.since), default=None)


def _routed(deployment: Deployment, chosen: Instance, known: dict[tuple[str, str], int]) -> Routed:
    ask = deployment.ask
    present = chosen.instance == deployment.revision.instance
    return Routed(
        namespace=deployment.namespace,
        name=deployment.name,
        uid=ask.uid,
        generation=ask.generation if present else known.get((ask.uid, chosen.instance), 0),
        instance=chosen.instance,
        port=chosen.port,
    )


def _route(deployment: Deployment, taken: Routed | None, *, host: str) -> Route:
    return Route(
        namespace=deployment.namespace,
        name=deployment.name,
        uid=deployment.ask.uid,
        generation=taken.generation if taken else deployment.ask.generation,
        endpoints=(Endpoint(host, taken.port),) if taken else (),
    )
