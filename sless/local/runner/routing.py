"""Where each function's requests go: pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sless.adapters.sqlite.instances import Instance, InstanceState
from sless.adapters.sqlite.routes import Route as RouteRow
from sless.gateway.route import Endpoint, Route
from sless.local.runner.function_process import HOST
from sless.model.deployment import Deployment


@dataclass(frozen=True, slots=True)
class Routing:
    """What Envoy is to be told, and what is noted once it took that."""

    routes: tuple[Route, ...]
    rows: tuple[RouteRow, ...]
    """Of the functions that something answers for."""


def compute_routing(
    deployments: Iterable[Deployment],
    instances: Iterable[Instance],
    noted: Iterable[RouteRow],
) -> Routing:
    """Sends each function's requests to its present revision once that is ready.

    Until then, and when it crashed, to the newest other one that is ready; else to nothing.
    `noted` tells which ask an older revision was routed for.
    """
    ready: dict[str, list[Instance]] = defaultdict(list)
    for instance in instances:
        if instance.state is InstanceState.READY:
            ready[instance.deployment_uid].append(instance)
    known = {(row.uid, row.instance): row.generation for row in noted}
    routes, rows = [], []
    for deployment in deployments:
        chosen = _choose(deployment, ready[deployment.uid])
        row = _row(deployment, chosen, known) if chosen else None
        routes.append(_route(deployment, row))
        rows += [row] if row else []
    return Routing(tuple(routes), tuple(rows))


def _choose(deployment: Deployment, ready: Sequence[Instance]) -> Instance | None:
    wanted = deployment.revision.instance
    return max(ready, key=lambda one: (one.instance == wanted, one.since), default=None)


def _row(deployment: Deployment, chosen: Instance, known: dict[tuple[str, str], int]) -> RouteRow:
    ask = deployment.ask
    present = chosen.instance == deployment.revision.instance
    return RouteRow(
        namespace=deployment.namespace,
        name=deployment.name,
        uid=ask.uid,
        generation=ask.generation if present else known.get((ask.uid, chosen.instance), 0),
        instance=chosen.instance,
        port=chosen.port,
    )


def _route(deployment: Deployment, row: RouteRow | None) -> Route:
    return Route(
        namespace=deployment.namespace,
        name=deployment.name,
        uid=deployment.ask.uid,
        generation=row.generation if row else deployment.ask.generation,
        endpoints=(Endpoint(HOST, row.port),) if row else (),
    )
