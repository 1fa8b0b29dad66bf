"""Several issuers side by side: a token's own word chooses who verifies it, and no more."""

from collections.abc import Mapping
from dataclasses import dataclass

from sless.tokens.faults import TokenFault, refuse
from sless.tokens.identity import Identity, Verifier
from sless.tokens.reading import check_size, peek_issuer


@dataclass(frozen=True, slots=True, kw_only=True)
class ByIssuer:
    """Hands a token to the verifier of the issuer it names; each looks at `iss` again, proven."""

    verifiers: Mapping[str, Verifier]
    """By issuer; a home's own key is one of them."""
    token_bytes: int
    """Longer tokens are refused unread."""

    async def verify(self, token: str) -> Identity:
        """See the protocol."""
        check_size(token, limit=self.token_bytes)
        verifier = self.verifiers.get(peek_issuer(token))
        if verifier is None:
            raise refuse(TokenFault.ISSUER, "The token is from an issuer not trusted here.")
        return await verifier.verify(token)
