"""Tokens of a foreign issuer: its published keys prove them, a claim says for which namespaces."""

from dataclasses import dataclass

from sless.tokens.identity import Identity
from sless.tokens.jwks import ALGORITHMS
from sless.tokens.key_cache import KeyCache
from sless.tokens.namespaces import NamespaceClaim
from sless.tokens.reading import Expected, check_size, read_claims, read_key_id


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuerVerifier:
    """Reads tokens of one issuer."""

    expected: Expected
    claim: NamespaceClaim
    keys: KeyCache
    token_bytes: int
    """Longer tokens are refused unread."""

    async def verify(self, token: str) -> Identity:
        """See the protocol."""
        check_size(token, limit=self.token_bytes)
        key = await self.keys.get(read_key_id(token, algorithms=ALGORITHMS))
        claims = read_claims(token, key, self.expected)
        return Identity(
            sub=claims["sub"],
            namespaces=self.claim.namespaces_of(claims),
            issuer=self.expected.issuer,
        )
