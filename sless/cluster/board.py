"""What Envoy has taken, for whoever waits for it."""

import asyncio
import contextlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from sless.gateway.route import Route


@dataclass(frozen=True, slots=True)
class Taken:
    """The routes that Envoy has."""

    version: str
    """Another one when they differ."""
    body: bytes
    """`{"version": …, "routes": {"<namespace>/<name>": ["<ip>:<port>", …]}}` as JSON."""


def render_taken(version: str, routes: Iterable[Route]) -> Taken:
    """Every function is named; one without endpoints has none."""
    table = {
        f"{route.namespace}/{route.name}": [str(each) for each in route.endpoints]
        for route in routes
    }
    body = json.dumps({"version": version, "routes": table}, separators=(",", ":"))
    return Taken(version, body.encode())


class Board:
    """One writes, any number wait."""

    def __init__(self) -> None:
        self.written = False
        """Whether Envoy finds present routes when it starts."""
        self._taken: Taken | None = None
        self._turned = asyncio.Event()
        self._closed = False

    def tell(self, taken: Taken) -> None:
        """Envoy has these now."""
        self._taken = taken
        self._turn()

    def close(self) -> None:
        """Lets go those who wait, and whoever comes."""
        self._closed = True
        self._turn()

    async def find(self, *, after: str, seconds: float) -> Taken | None:
        """What is newer than version `after`; what there is, perhaps none, when time is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self._closed and (self._taken is None or self._taken.version == after):
                    await self._turned.wait()
        return self._taken

    def _turn(self) -> None:
        self._turned.set()
        self._turned = asyncio.Event()
