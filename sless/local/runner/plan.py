"""Which function processes start and which stop: pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sless.model.deployment import Deployment
from sless.model.instance import InstanceState
from sless.model.routed import Routed


@dataclass(frozen=True, slots=True, order=True)
class InstanceKey:
    """One process: a revision of a Deployment."""

    deployment_uid: str
    instance: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done now; the same rows later give the rest."""

    start: tuple[Deployment, ...]
    """Their present revisions."""
    stop: frozenset[InstanceKey]


def present(deployment: Deployment) -> InstanceKey:
    """The process that a Deployment wants."""
    return InstanceKey(deployment.uid, deployment.revision.instance)


def plan(
    deployments: Sequence[Deployment],
    running: Mapping[InstanceKey, InstanceState],
    routes: Iterable[Routed],
) -> Plan:
    """Starts what is wanted and not running; stops what is neither wanted nor still routed to."""
    by_uid = {deployment.uid: deployment for deployment in deployments}
    routed = {(route.namespace, route.name): route for route in routes}
    wanted = {present(deployment) for deployment in deployments}
    return Plan(
        start=tuple(one for one in deployments if present(one) not in running),
        stop=frozenset(
            key
            for key, state in running.items()
            if key not in wanted and _may_stop(by_uid.get(key.deployment_uid), state, routed)
        ),
    )


def _may_stop(
    deployment: Deployment | None,
    state: InstanceState,
    routed: Mapping[tuple[str, str], Routed],
) -> bool:
    """One that serves goes on until the gateway sends its requests to the present revision."""
    if deployment is None or state is not InstanceState.READY:
        return True
    route = routed.get((deployment.namespace, deployment.name))
    return (
        route is not None
        and route.uid == deployment.ask.uid
        and route.instance == deployment.revision.instance
    )
