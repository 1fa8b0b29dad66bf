"""An issuer of tokens, as far as verifying them needs it."""

from typing import Protocol


class Issuer(Protocol):
    """Somebody else's server: everything it answers is bounded by the adapter."""

    async def fetch_jwks(self) -> bytes:
        """Its published keys, a JWKS as it was sent; raises `IssuerUnavailable`."""
        ...
