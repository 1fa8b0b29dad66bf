"""What the watcher judges, kept in memory in step with a cluster.

Functions are told by kopf, and listed each minute; what belongs to them is listed and watched by
its label, which kopf would do at the client, and so read every pod of the cluster.
"""

import asyncio
import time
from collections.abc import Coroutine, Sequence
from types import TracebackType
from typing import Any, Self

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.follow import RESYNC_SECONDS, follow
from sless.adapters.kubernetes.function_events import FunctionEvents
from sless.adapters.kubernetes.gateways import Gateways, GatewayService
from sless.adapters.kubernetes.mirror import Mirror, Object
from sless.adapters.kubernetes.render_deployment import FUNCTION_LABEL
from sless.adapters.kubernetes.resources import (
    DEPLOYMENTS,
    FUNCTIONS,
    PODS,
    REPLICA_SETS,
    SERVICES,
    Resource,
)
from sless.adapters.kubernetes.standings import Standings
from sless.errors import StoreUnavailable
from sless.model.function import FunctionRef
from sless.ports.scene import Standing

STALE_SECONDS = 3 * RESYNC_SECONDS
"""After so long without a whole list, what is known may have nothing to do with what is."""
GATHER_SECONDS = 0.1
"""After a change, until it is told: several that come together become one."""


_READ = (FUNCTIONS, DEPLOYMENTS, SERVICES, REPLICA_SETS, PODS)


class KubernetesScene:
    """The port `Scene`; `start` it, or enter it.

    Args:
        server: With the right to list and watch.
        kubeconfig: For kopf, as for `connect`.
        gateways: Where gateways are found.
    """

    def __init__(
        self, server: ApiServer, *, kubeconfig: str | None = None, gateways: GatewayService
    ) -> None:
        self._server = server
        self._wake = asyncio.Event()
        self._standings = Standings(self._tables, changed=self._wake.set)
        self._gateways = Gateways(server, gateways, changed=self._standings.mark)
        self._events = FunctionEvents(kubeconfig, self._take)
        self._listed: dict[Resource, float] = {}
        self._tasks: list[asyncio.Task[None]] = []

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
        standings = self._standings
        self._spawn(self._follow(FUNCTIONS, standings.functions, watch=False))
        for resource, mirror in (
            (DEPLOYMENTS, standings.deployments),
            (SERVICES, standings.services),
            (REPLICA_SETS, standings.replica_sets),
            (PODS, standings.pods),
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
        """All Functions; raises `StoreUnavailable` until all was listed, or when it is long ago.

        A Function none of whose parts changed has the identical Standing in each look.
        """
        self._check()
        self._wake.clear()
        return self._standings.look()

    async def changed(self, *, seconds: float) -> bool:
        """Waits for a change, at most so long."""
        try:
            # Not `wait_for`: until Python 3.12 it loses a cancel that comes with what it waits for.
            async with asyncio.timeout(seconds):
                await self._wake.wait()
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
            for each in _READ
            if time.monotonic() - self._listed.get(each, float("-inf")) > STALE_SECONDS
        ]
        if missing:
            raise StoreUnavailable(f"The cluster's {', '.join(missing)} are not known at present.")

    def _tables(self, function: FunctionRef) -> Sequence[Sequence[str]]:
        return self._gateways.tables(function)

    def _take(self, kind: str | None, thing: Object) -> None:
        """An event of kopf's."""
        functions = self._standings.functions
        (functions.drop if kind == "DELETED" else functions.put)(thing)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(work))

    async def _follow(
        self, resource: Resource, mirror: Mirror[Any], *, labels: str = "", watch: bool = True
    ) -> None:
        def note() -> None:
            self._listed[resource] = time.monotonic()
            self._wake.set()

        await follow(self._server, resource, mirror, labels=labels, watch=watch, told=note)
