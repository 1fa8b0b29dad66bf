"""Warnings from an API server's events."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.event_warnings import find_warnings
from sless.adapters.kubernetes.recent_events import RecentEvents
from sless.model.function import FunctionRef
from sless.model.warning import HomeWarning

FRESH_SECONDS = 3.0
"""How old an answer may be."""


class KubernetesWarnings:
    """The port `Warnings`; it needs no right but to list events.

    Args:
        server: Whose events.
        builds: The namespace where Jobs run.
        fresh_seconds: How old an answer may be.
    """

    def __init__(
        self, server: ApiServer, *, builds: str, fresh_seconds: float = FRESH_SECONDS
    ) -> None:
        self._builds = builds
        self._events = RecentEvents(server, fresh_seconds=fresh_seconds)

    async def find(self, function: FunctionRef, *, build: str) -> Sequence[HomeWarning]:
        """See the port."""
        own, builds = await asyncio.gather(
            self._events.of(function.namespace), self._events.of(self._builds)
        )
        return find_warnings(function, build=build, own=own, builds=builds, now=datetime.now(UTC))
