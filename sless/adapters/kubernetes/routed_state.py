"""Which generation of a function its callers reach, by the addresses that gateways route to: pure.

A caller comes to any gateway, and there to any address: what counts is the oldest of them.
"""

from collections.abc import Iterable, Mapping, Sequence

from sless.model.deployment import Deployment
from sless.model.routed import Routed


def find_routed(
    deployment: Deployment | None,
    *,
    tables: Sequence[Sequence[str]],
    instances: Mapping[str, str],
) -> Routed | None:
    """What is routed, or none where some caller would reach nothing.

    Args:
        deployment: Of the function; without it nothing is known of what its addresses run.
        tables: For each gateway, where it sends the function's calls: `<ip>:<port>`.
        instances: `Revision.instance` by the IP address of the pod that runs it.
    """
    if deployment is None or not tables or not all(tables):
        return None
    reached = {instances.get(host_of(address), "") for table in tables for address in table}
    generation, instance = _oldest(deployment, reached)
    return Routed(
        namespace=deployment.namespace,
        name=deployment.name,
        uid=deployment.ask.uid,
        generation=generation,
        instance=instance,
    )


def host_of(address: str) -> str:
    """The IP address of `<ip>:<port>`, without the brackets of an IPv6 one."""
    return address.rpartition(":")[0].strip("[]")


def _oldest(deployment: Deployment, reached: Iterable[str]) -> tuple[int, str]:
    return min((_generation_of(deployment, instance), instance) for instance in reached)


def _generation_of(deployment: Deployment, instance: str) -> int:
    """The newest ask that it serves; 0 for a revision before the last good one, or an unknown."""
    good = deployment.good
    if instance == deployment.revision.instance:
        return deployment.ask.generation
    return deployment.good_generation if good is not None and instance == good.instance else 0
