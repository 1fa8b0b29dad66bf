"""An issuer's published keys, each bound to the one algorithm of its kind."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from sless.errors import IssuerUnavailable
from sless.tokens.reading import KID_MAX, PublicKey, VerificationKey

KEYS_MAX = 100
"""Keys of one issuer that are looked at: large ones publish some ten."""
_RSA_BITS = range(2048, 8192 + 1)
"""Below, a signature can be forged; above, verifying one takes long."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of key, and what it verifies."""

    algorithm: str
    reader: type[RSAAlgorithm | ECAlgorithm | OKPAlgorithm]
    members: tuple[str, ...]
    """The public members; private ones, published by mistake, are not read."""


_KINDS: Final[Mapping[tuple[str, str], _Kind]] = {
    ("RSA", ""): _Kind("RS256", RSAAlgorithm, ("kty", "n", "e")),
    ("EC", "P-256"): _Kind("ES256", ECAlgorithm, ("kty", "crv", "x", "y")),
    ("OKP", "Ed25519"): _Kind("EdDSA", OKPAlgorithm, ("kty", "crv", "x")),
}

ALGORITHMS: Final = frozenset(kind.algorithm for kind in _KINDS.values())


def parse_jwks(document: bytes) -> dict[str, VerificationKey]:
    """The usable keys by their id; the first of two with one id.

    Keys of other kinds, for other uses, or without an id are passed over. Raises
    `IssuerUnavailable` when there is no usable key: an issuer that signs has one.
    """
    keys: dict[str, VerificationKey] = {}
    for jwk in _listed(document):
        kid = jwk.get("kid")
        key = find_key(jwk)
        if isinstance(kid, str) and 0 < len(kid) <= KID_MAX and key is not None:
            keys.setdefault(kid, key)
    if not keys:
        raise IssuerUnavailable("The issuer's JWKS holds no key for RS256, ES256 or EdDSA.")
    return keys


def find_key(jwk: Mapping[str, Any]) -> VerificationKey | None:
    """One published key with its algorithm; none when it is not for verifying tokens by ours."""
    kind = _kind_of(jwk)
    if kind is None or jwk.get("alg", kind.algorithm) != kind.algorithm or not _may_verify(jwk):
        return None
    try:
        public = kind.reader.from_jwk({name: jwk[name] for name in kind.members})
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, OverflowError):
        return None
    return _checked(kind.algorithm, public)


def _kind_of(jwk: Mapping[str, Any]) -> _Kind | None:
    kty = jwk.get("kty")
    curve = "" if kty == "RSA" else jwk.get("crv")
    if not isinstance(kty, str) or not isinstance(curve, str):
        return None
    return _KINDS.get((kty, curve))


def _may_verify(jwk: Mapping[str, Any]) -> bool:
    operations = jwk.get("key_ops", ["verify"])
    return jwk.get("use", "sig") == "sig" and (
        isinstance(operations, list) and "verify" in operations
    )


def _checked(algorithm: str, public: Any) -> VerificationKey | None:
    if isinstance(public, RSAPublicKey) and public.key_size not in _RSA_BITS:
        return None
    return VerificationKey(algorithm, public) if isinstance(public, PublicKey) else None


def _listed(document: bytes) -> Iterator[Mapping[str, Any]]:
    try:
        content = json.loads(document)
        listed = content["keys"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise IssuerUnavailable("The issuer's JWKS is no JSON object with keys.") from error
    if not isinstance(listed, list):
        raise IssuerUnavailable("The issuer's JWKS is no JSON object with keys.")
    return (jwk for jwk in listed[:KEYS_MAX] if isinstance(jwk, dict))
