"""Everything the watcher judges, in one look."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sless.model.deployment import Deployment
from sless.model.routed import Routed
from sless.ports.functions import StoredFunction


@dataclass(frozen=True, slots=True)
class Standing:
    """A Function, what is deployed for it, and what the gateway routes."""

    stored: StoredFunction
    deployment: Deployment | None = None
    routed: Routed | None = None


class Scene(Protocol):
    """Every method may raise `StoreUnavailable`."""

    async def look(self) -> Sequence[Standing]:
        """All Functions."""
        ...

    async def changed(self, *, seconds: float) -> bool:
        """Waits for a change, at most so long; whether there was one."""
        ...
