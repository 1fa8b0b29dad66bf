"""Envoy's admin interface, over its Unix socket."""

import asyncio
import ssl
from dataclasses import dataclass
from pathlib import Path

import httpx

from sless.errors import GatewayUnavailable
from sless.gateway.listener import STAT_PREFIX
from sless.gateway.routes import ROUTE_TABLE

POLL = 0.02
"""Seconds between two questions, at first."""
POLL_MAX = 0.25
"""Seconds between two questions, at last: Envoy reads large files on the thread that answers."""
_TIMEOUT = 5.0
"""Seconds for one answer: Envoy's main thread answers, which may be reading a large file."""
_CLUSTERS = "cluster_manager.cds.version_text"
_ROUTES = f"http.{STAT_PREFIX}.rds.{ROUTE_TABLE}.version_text"
_ACTIVE = f"http.{STAT_PREFIX}.downstream_rq_active"


@dataclass(frozen=True, slots=True)
class Versions:
    """Which files Envoy has taken; empty text for none."""

    clusters: str
    routes: str


class EnvoyAdmin:
    """Asks one Envoy; each method raises `GatewayUnavailable` when it does not answer."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    async def find_versions(self) -> Versions:
        """What is routed now."""
        text = await self._ask("GET", "/stats?type=TextReadouts&filter=version_text")
        lines = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
        return Versions(lines.get(_CLUSTERS, "").strip('"'), lines.get(_ROUTES, "").strip('"'))

    async def count_requests(self) -> int:
        """Requests under way, WebSockets included."""
        text = await self._ask("GET", f"/stats?usedonly&filter=^{_ACTIVE}$")
        _, _, value = text.partition(": ")
        return int(value or 0)

    async def leave(self) -> None:
        """Close each connection after its next answer; new ones are accepted still."""
        await self._ask("POST", "/healthcheck/fail")

    async def refuse(self) -> None:
        """Accept no connection any more."""
        await self._ask("POST", "/drain_listeners")

    async def wait_idle(self) -> None:
        """Return when no request is under way."""
        while await self.count_requests():  # noqa: ASYNC110  # another process: nothing signals it
            await asyncio.sleep(POLL)

    async def _ask(self, method: str, path: str) -> str:
        # The context is never used on a Unix socket; making the default one reads every CA.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        transport = httpx.AsyncHTTPTransport(uds=str(self._socket), verify=context)
        try:
            async with httpx.AsyncClient(transport=transport, timeout=_TIMEOUT) as client:
                answer = await client.request(method, f"http://envoy{path}")
                answer.raise_for_status()
        except httpx.HTTPError as error:
            raise GatewayUnavailable(f"Envoy's admin at {self._socket} says: {error}") from error
        return answer.text
