"""Asks every gateway what it routes, and goes on asking: the watcher's side of `/routed`.

A gateway that does not answer keeps its last answer until it leaves its Service; one that never
answered does not count.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import aiohttp
import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.endpoint_slices import (
    CONTROLLER,
    MANAGED_BY_LABEL,
    SERVICE_LABEL,
)
from sless.adapters.kubernetes.follow import follow
from sless.adapters.kubernetes.mirror import Mirror, Object
from sless.adapters.kubernetes.resources import ENDPOINT_SLICES
from sless.model.function import FunctionRef

WAIT_SECONDS = 20
"""A gateway answers by then, changed or not."""
_PATIENCE = aiohttp.ClientTimeout(total=WAIT_SECONDS + 10, sock_connect=5)
_RETRY_SECONDS = 1.0
"""Before a gateway that failed us is asked again, or one that answers without waiting."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class GatewayService:
    """Where gateways are found."""

    namespace: str
    name: str
    port: int
    """Of each gateway itself, where it tells."""


class _Answer(BaseModel):
    """What a gateway tells."""

    model_config = ConfigDict(strict=True)

    version: str
    routes: dict[str, list[str]]


class Gateways:
    """What the gateways of a Service route.

    Args:
        server: With the right to list and watch the Service's EndpointSlices.
        service: The gateways'.
        changed: Called with each function for which another answer may be due.
    """

    def __init__(
        self, server: ApiServer, service: GatewayService, *, changed: Callable[[FunctionRef], None]
    ) -> None:
        self._server = server
        self._service = service
        self._changed = changed
        self._tables: dict[str, Mapping[str, list[str]]] = {}
        self._polls: dict[str, asyncio.Task[None]] = {}
        self._moved = asyncio.Event()
        self._slices = Mirror(_ready_addresses, changed=lambda _: self._moved.set())

    def tables(self, function: FunctionRef) -> list[list[str]]:
        """For each gateway that counts, where it sends the function's calls."""
        name = str(function)
        return [table.get(name, []) for table in self._tables.values()]

    async def run(self) -> None:
        """Until cancelled."""
        labels = f"{SERVICE_LABEL}={self._service.name},{MANAGED_BY_LABEL}={CONTROLLER}"
        namespace = self._service.namespace
        async with aiohttp.ClientSession(timeout=_PATIENCE) as session, asyncio.TaskGroup() as own:
            own.create_task(
                follow(
                    self._server, ENDPOINT_SLICES, self._slices, labels=labels, namespace=namespace
                )
            )
            while True:
                self._moved.clear()
                present = {each for found in self._slices.items().values() for each in found}
                for host in present - self._polls.keys():
                    self._polls[host] = own.create_task(self._poll(session, host))
                for host in self._polls.keys() - present:
                    self._polls.pop(host).cancel()
                    self._take(host, None)
                await self._moved.wait()

    async def _poll(self, session: aiohttp.ClientSession, host: str) -> None:
        """Keeps a gateway's answer."""
        version = ""
        while True:
            asked = time.monotonic()
            try:
                answer = await self._ask(session, host, after=version)
            except (aiohttp.ClientError, TimeoutError, ValidationError) as error:
                log.warning("gateway does not tell what it routes", gateway=host, error=repr(error))
            else:
                self._take(host, answer.routes)
                if answer.version != version or time.monotonic() - asked > _RETRY_SECONDS:
                    version = answer.version
                    continue
            await asyncio.sleep(_RETRY_SECONDS)

    async def _ask(self, session: aiohttp.ClientSession, host: str, *, after: str) -> _Answer:
        where = f"[{host}]" if ":" in host else host
        async with session.get(
            f"http://{where}:{self._service.port}/routed",
            params={"after": after, "wait": str(WAIT_SECONDS)},
            raise_for_status=True,
        ) as response:
            return _Answer.model_validate_json(await response.read())

    def _take(self, host: str, table: Mapping[str, list[str]] | None) -> None:
        """A gateway's answer, or that it left."""
        before = self._tables.get(host)
        if table is None:
            self._tables.pop(host, None)
        else:
            self._tables[host] = table
        if before is None or table is None:
            # It begins or ceases to count, also for functions that only others route.
            names = {name for each in self._tables.values() for name in each} | set(before or ())
        else:
            names = {
                name for name in before.keys() | table.keys() if before.get(name) != table.get(name)
            }
        for name in names:
            namespace, _, function = name.partition("/")
            self._changed(FunctionRef(namespace, function))


def _ready_addresses(thing: Object) -> frozenset[str]:
    """Of a slice; one whose readiness is unknown counts as ready, as everywhere."""
    return frozenset(
        address
        for endpoint in thing.get("endpoints") or ()
        if (endpoint.get("conditions") or {}).get("ready") is not False
        for address in endpoint["addresses"]
    )
