"""What the watcher judges, kept in memory in step with a cluster.

Functions are told by kopf, and listed each minute; what belongs to them is listed and watched by
its label, which kopf would do at the client, and so read every pod of the cluster.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypeVar

import structlog

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.follow import RESYNC_SECONDS, follow
from sless.adapters.kubernetes.function_events import FunctionEvents
from sless.adapters.kubernetes.gateways import Gateways, GatewayService
from sless.adapters.kubernetes.mirror import Mirror, Object, key_of
from sless.adapters.kubernetes.render_deployment import FUNCTION_LABEL
from sless.adapters.kubernetes.resources import DEPLOYMENTS, FUNCTIONS, PODS, REPLICA_SETS, Resource
from sless.adapters.kubernetes.rollout_state import judge
from sless.adapters.kubernetes.routed_state import find_routed
from sless.adapters.kubernetes.seen import (
    SeenDeployment,
    SeenPart,
    read_function,
    read_live_deployment,
    read_pod,
    read_replica_set,
)
from sless.errors import SlessError, StoreUnavailable
from sless.model.deployment import Deployment
from sless.model.function import FunctionRef
from sless.model.routed import Routed
from sless.ports.functions import StoredFunction
from sless.ports.scene import Standing

STALE_SECONDS = 3 * RESYNC_SECONDS
"""After so long without a whole list, what is known may have nothing to do with what is."""
GATHER_SECONDS = 0.1
"""After a change, until it is told: several that come together become one."""

_UNREADABLE = (SlessError, LookupError, TypeError, ValueError, AttributeError)
"""What comes of an object that is not as everybody makes them."""

T = TypeVar("T")

log = structlog.get_logger()


class KubernetesScene:
    """The port `Scene`; `start` it, or enter it.

    A Function none of whose parts changed has the identical Standing in each look.

    Args:
        server: With the right to list and watch.
        kubeconfig: For kopf, as for `connect`.
        gateways: Where gateways are found.
    """

    def __init__(
        self, server: ApiServer, *, kubeconfig: str | None = None, gateways: GatewayService
    ) -> None:
        self._server = server
        self._functions: Mirror[StoredFunction] = Mirror(
            _lenient(read_function), group=_ref_of, changed=self._mark
        )
        self._deployments: Mirror[SeenDeployment] = _mirror(read_live_deployment, self._mark)
        self._replica_sets: Mirror[SeenPart] = _mirror(read_replica_set, self._mark)
        self._pods: Mirror[SeenPart] = _mirror(read_pod, self._mark)
        self._gateways = Gateways(server, gateways, changed=self._mark)
        self._events = FunctionEvents(kubeconfig, self._take)
        self._listed: dict[Resource, float] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._marked: set[FunctionRef] = set()
        self._wake = asyncio.Event()
        self._standings: dict[FunctionRef, Standing] = {}
        self._told: Sequence[Standing] = ()

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def start(self) -> None:
        """Begins to read the cluster."""
        self._spawn(self._follow(FUNCTIONS, self._functions, watch=False))
        for resource, mirror in (
            (DEPLOYMENTS, self._deployments),
            (REPLICA_SETS, self._replica_sets),
            (PODS, self._pods),
        ):
            self._spawn(self._follow(resource, mirror, labels=FUNCTION_LABEL))
        self._spawn(self._gateways.run())
        self._events.start()

    async def close(self) -> None:
        """Ends what `start` began."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._events.close()

    async def look(self) -> Sequence[Standing]:
        """All Functions; raises `StoreUnavailable` until all was listed, or when it is long ago."""
        self._check()
        self._wake.clear()
        if self._marked:
            marked, self._marked = self._marked, set()
            for function in marked:
                self._renew_leniently(function)
            self._told = tuple(self._standings.values())
        return self._told

    async def changed(self, *, seconds: float) -> bool:
        """Waits for a change, at most so long."""
        try:
            await asyncio.wait_for(self._wake.wait(), seconds)
        except TimeoutError:
            return False
        await asyncio.sleep(GATHER_SECONDS)
        return True

    def _check(self) -> None:
        for task in self._tasks:
            if task.done():
                task.result()  # a defect, which must not pass for a cluster in which nothing moves
        missing = [
            str(each)
            for each in (FUNCTIONS, DEPLOYMENTS, REPLICA_SETS, PODS)
            if time.monotonic() - self._listed.get(each, float("-inf")) > STALE_SECONDS
        ]
        if missing:
            raise StoreUnavailable(f"The cluster's {', '.join(missing)} are not known at present.")

    def _renew_leniently(self, function: FunctionRef) -> None:
        """One that cannot be judged stays as it stood: the others go on."""
        try:
            self._renew(function)
        except _UNREADABLE:
            log.exception("function passed over", function=str(function))

    def _renew(self, function: FunctionRef) -> None:
        stored = self._functions.get((function.namespace, function.name))
        if stored is None:
            self._standings.pop(function, None)
            return
        seen = next(iter(self._deployments.among(function)), None)
        standing = Standing(
            stored,
            deployment=None if seen is None else self._judge(seen),
            routed=self._find_routed(seen),
        )
        if standing != self._standings.get(function):
            self._standings[function] = standing

    def _judge(self, seen: SeenDeployment) -> Deployment:
        availability = judge(
            seen.live,
            replica_sets=[each.live for each in self._replica_sets.among(seen.function)],
            pods=[each.live for each in self._pods.among(seen.function)],
        )
        return replace(seen.deployment, availability=availability)

    def _find_routed(self, seen: SeenDeployment | None) -> Routed | None:
        if seen is None:
            return None
        instances = {
            address: pod.instance
            for pod in self._pods.among(seen.function)
            for address in pod.addresses
        }
        tables = self._gateways.tables(seen.function)
        return find_routed(seen.deployment, tables=tables, instances=instances)

    def _take(self, kind: str | None, thing: Object) -> None:
        """An event of kopf's."""
        (self._functions.drop if kind == "DELETED" else self._functions.put)(thing)

    def _mark(self, function: FunctionRef) -> None:
        self._marked.add(function)
        self._wake.set()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(work))

    async def _follow(
        self, resource: Resource, mirror: Mirror[Any], *, labels: str = "", watch: bool = True
    ) -> None:
        def note() -> None:
            self._listed[resource] = time.monotonic()
            self._wake.set()

        await follow(self._server, resource, mirror, labels=labels, watch=watch, told=note)


def _mirror(read: Callable[[Object], Any], mark: Callable[[FunctionRef], None]) -> Mirror[Any]:
    return Mirror(_lenient(read), group=lambda seen: seen.function, changed=mark)


def _ref_of(stored: StoredFunction) -> FunctionRef:
    return stored.function.ref


def _lenient(read: Callable[[Object], T | None]) -> Callable[[Object], T | None]:
    """One that a hand made of nothing that we know is passed over, and told once."""

    def attempt(thing: Object) -> T | None:
        try:
            return read(thing)
        except _UNREADABLE as error:
            where = "/".join(key_of(thing))
            log.warning(
                "object passed over", kind=thing.get("kind"), object=where, error=str(error)
            )
            return None

    return attempt
