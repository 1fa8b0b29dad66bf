"""Who asks, and what reads it from a token."""

from dataclasses import dataclass
from typing import Protocol

EVERY_NAMESPACE = "*"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks, and for which namespaces they may."""

    sub: str
    namespaces: tuple[str, ...]

    def may_use(self, namespace: str) -> bool:
        """Whether a namespace is theirs."""
        return EVERY_NAMESPACE in self.namespaces or namespace in self.namespaces


class Verifier(Protocol):
    """Reads tokens of one issuer. Another issuer's joins as another class."""

    async def verify(self, token: str) -> Identity:
        """The identity a token proves; raises `Unauthenticated`, never anything else."""
        ...
