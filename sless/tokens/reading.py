"""Reading a token: what it says of itself proves nothing, what its signature covers does."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt.utils import base64url_decode

from sless.tokens.faults import FOREIGN, TokenFault, refusal_of, refuse

PublicKey = RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey

_REQUIRED = ["exp", "iat", "iss", "aud", "sub"]
_TYPES = frozenset({"", "jwt", "at+jwt", "application/jwt", "application/at+jwt"})
"""Types that give access to an API; a logout token (`logout+jwt`), say, does not."""
KID_MAX = 256
"""Characters of a key's name that are looked up at all."""


@dataclass(frozen=True, slots=True)
class VerificationKey:
    """A public key, and the one algorithm that it verifies."""

    algorithm: str
    public: PublicKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a token must say to be one for us."""

    issuer: str
    audience: str
    leeway: timedelta
    """How far two clocks may differ."""


def check_size(token: str, *, limit: int) -> None:
    """Raises `Unauthenticated` before anything is parsed: 8 MB of token cost 0.3 s."""
    if len(token) > limit:
        raise refuse(TokenFault.TOO_LARGE, f"The token is longer than {limit} bytes.")


def peek_issuer(token: str) -> str:
    """The issuer a token names, unverified: good for choosing who verifies it, for nothing else."""
    try:
        claims = json.loads(base64url_decode(token.split(".")[1]))
    except (*FOREIGN, IndexError) as error:
        raise refuse(TokenFault.MALFORMED, "The token is no JWT.") from error
    issuer = claims.get("iss") if isinstance(claims, dict) else None
    if not isinstance(issuer, str):
        raise refuse(TokenFault.CLAIMS, "The token names no issuer.")
    return issuer


def read_key_id(token: str, *, algorithms: Collection[str]) -> str:
    """The key that a token names; raises `Unauthenticated` for headers that cannot be.

    `alg` only refuses: the key says how it is verified. `jku`, `x5u`, `x5c`, `jwk` are not read.
    """
    header = _header_of(token)
    kind, algorithm, kid = header.get("typ", ""), header.get("alg"), header.get("kid")
    if not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise refuse(TokenFault.MALFORMED, "The token is of a type that gives no access here.")
    if "crit" in header:
        raise refuse(TokenFault.MALFORMED, "The token has critical headers; none is understood.")
    if not isinstance(algorithm, str) or algorithm not in algorithms:
        listed = ", ".join(sorted(algorithms))
        raise refuse(TokenFault.ALGORITHM, f"The token is signed by none of {listed}.")
    if not isinstance(kid, str) or not 0 < len(kid) <= KID_MAX:
        raise refuse(TokenFault.KEY, "The token's header names no key (kid).")
    return kid


def read_claims(token: str, key: VerificationKey, expected: Expected) -> dict[str, Any]:
    """A token's claims, proven; raises `Unauthenticated`, and nothing else."""
    try:
        claims = jwt.decode(
            token,
            key.public,
            algorithms=[key.algorithm],
            audience=expected.audience,
            issuer=expected.issuer,
            leeway=expected.leeway,
            options={"require": _REQUIRED},
        )
    except jwt.InvalidAudienceError as error:
        message = f"The token is meant for others: get one with the audience {expected.audience!r}."
        raise refuse(TokenFault.AUDIENCE, message) from error
    except FOREIGN as error:
        raise refusal_of(error) from error
    if not claims["sub"]:
        raise refuse(TokenFault.CLAIMS, "The token's subject is empty.")
    if "cnf" in claims:
        # RFC 9449, 7.2: what is bound to its holder's key is no bearer token.
        raise refuse(TokenFault.CLAIMS, "The token is bound to a key (cnf); send one that is not.")
    return claims


def _header_of(token: str) -> dict[str, Any]:
    try:
        return jwt.get_unverified_header(token)
    except FOREIGN as error:
        raise refusal_of(error) from error
