"""An issuer's discovery document: where it lies, and what in it is believed."""

import json

from sless.errors import IssuerUnavailable
from sless.issuers import is_safe_address

_WELL_KNOWN = "/.well-known/openid-configuration"


def discovery_address(issuer: str) -> str:
    """Where the issuer's document lies (OpenID Connect Discovery 1.0, section 4)."""
    return issuer.removesuffix("/") + _WELL_KNOWN


def parse_jwks_address(document: bytes, *, issuer: str, allow_http: bool) -> str:
    """Where its keys lie.

    Raises `IssuerUnavailable` for a document of another issuer, which would let one speak for the
    other, and for keys at an address that anybody on the way could answer for.
    """
    try:
        content = json.loads(document)
    except (ValueError, RecursionError) as error:
        raise IssuerUnavailable(f"{issuer}: its discovery document is no JSON.") from error
    if not isinstance(content, dict):
        raise IssuerUnavailable(f"{issuer}: its discovery document is no JSON object.")
    if content.get("issuer") != issuer:
        named = str(content.get("issuer"))[:200]
        raise IssuerUnavailable(f"{issuer}: its discovery document is that of {named!r}.")
    address = content.get("jwks_uri")
    if not isinstance(address, str) or not is_safe_address(address, allow_http=allow_http):
        raise IssuerUnavailable(f"{issuer}: its jwks_uri is no https address.")
    return address
