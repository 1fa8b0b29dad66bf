"""Who asks, and what reads it from a token."""

from dataclasses import dataclass
from typing import Protocol

ISSUER = "sless"
"""A home's own key."""
EVERY_NAMESPACE = "*"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks, and for which namespaces they may."""

    sub: str
    namespaces: tuple[str, ...]
    issuer: str = ISSUER
    """Whose word it is: two issuers may name different people alike."""

    def may_use(self, namespace: str) -> bool:
        """Whether a namespace is theirs."""
        return EVERY_NAMESPACE in self.namespaces or namespace in self.namespaces


class Verifier(Protocol):
    """Reads tokens, of one issuer or of several."""

    async def verify(self, token: str) -> Identity:
        """The identity a token proves.

        Raises:
            Unauthenticated: It proves none; `fault` is a word of `sless.tokens.faults`.
            IssuerUnavailable: It cannot be checked now.
        """
        ...
