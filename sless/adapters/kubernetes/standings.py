"""Standings put together from mirrors of a cluster, anew only where something changed."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import structlog

from sless.adapters.kubernetes.mirror import Mirror, Object, key_of
from sless.adapters.kubernetes.rollout_state import judge
from sless.adapters.kubernetes.routed_state import find_routed
from sless.adapters.kubernetes.seen import (
    SeenDeployment,
    SeenPart,
    read_function,
    read_live_deployment,
    read_pod,
    read_replica_set,
    read_service,
)
from sless.adapters.kubernetes.service_state import is_found
from sless.model.deployment import Deployment
from sless.model.function import FunctionRef
from sless.model.routed import Routed
from sless.ports.functions import StoredFunction
from sless.ports.scene import Standing

Tables = Callable[[FunctionRef], Sequence[Sequence[str]]]
"""Where each gateway that counts sends a function's calls."""

T = TypeVar("T")

log = structlog.get_logger()


class Standings:
    """A Function none of whose parts changed has the identical Standing ever after.

    Args:
        tables: Asked for each function that is put together.
        changed: Called when `look` has something new.
    """

    def __init__(self, tables: Tables, *, changed: Callable[[], None]) -> None:
        self._tables = tables
        self._changed = changed
        self.functions: Mirror[StoredFunction] = Mirror(
            _lenient(read_function), group=_ref_of, changed=self.mark
        )
        self.deployments: Mirror[SeenDeployment] = self._mirror(read_live_deployment)
        self.services: Mirror[SeenPart] = self._mirror(read_service)
        self.replica_sets: Mirror[SeenPart] = self._mirror(read_replica_set)
        self.pods: Mirror[SeenPart] = self._mirror(read_pod)
        self._marked: set[FunctionRef] = set()
        self._standings: dict[FunctionRef, Standing] = {}
        self._told: Sequence[Standing] = ()

    def mark(self, function: FunctionRef) -> None:
        """It has to be put together anew."""
        self._marked.add(function)
        self._changed()

    def look(self) -> Sequence[Standing]:
        """All Functions."""
        if self._marked:
            marked, self._marked = self._marked, set()
            for function in marked:
                self._renew_leniently(function)
            self._told = tuple(self._standings.values())
        return self._told

    def _renew_leniently(self, function: FunctionRef) -> None:
        """One that cannot be judged stays as it stood: the others go on."""
        try:
            self._renew(function)
        except Exception:  # whatever somebody made of its parts
            log.exception("function passed over", function=str(function))

    def _renew(self, function: FunctionRef) -> None:
        stored = self.functions.get((function.namespace, function.name))
        if stored is None:
            self._standings.pop(function, None)
            return
        seen = next(iter(self.deployments.among(function)), None)
        standing = Standing(
            stored,
            deployment=None if seen is None else self._judge(seen),
            routed=None if seen is None else self._find_routed(seen),
        )
        if standing != self._standings.get(function):
            self._standings[function] = standing

    def _judge(self, seen: SeenDeployment) -> Deployment:
        availability = judge(
            seen.live,
            replica_sets=[each.live for each in self.replica_sets.among(seen.function)],
            pods=[each.live for each in self.pods.among(seen.function)],
        )
        service = next((each.live for each in self.services.among(seen.function)), None)
        exposed = is_found(seen.deployment, live=seen.live, service=service)
        return replace(seen.deployment, availability=availability, exposed=exposed)

    def _find_routed(self, seen: SeenDeployment) -> Routed | None:
        instances = {
            address: pod.instance
            for pod in self.pods.among(seen.function)
            for address in pod.addresses
        }
        tables = self._tables(seen.function)
        return find_routed(seen.deployment, tables=tables, instances=instances)

    def _mirror(self, read: Callable[[Object], Any]) -> Mirror[Any]:
        return Mirror(_lenient(read), group=lambda seen: seen.function, changed=self.mark)


def _ref_of(stored: StoredFunction) -> FunctionRef:
    return stored.function.ref


def _lenient(read: Callable[[Object], T | None]) -> Callable[[Object], T | None]:
    """One that a hand made of nothing that we know is passed over, and told once."""

    def attempt(thing: Object) -> T | None:
        try:
            return read(thing)
        except Exception as error:  # noqa: BLE001  # people can write anything into an object
            where = "/".join(key_of(thing))
            log.warning(
                "object passed over", kind=thing.get("kind"), object=where, error=str(error)
            )
            return None

    return attempt
