"""Private keys of a test's issuer, as JWKs; and tokens, honest or not, signed with them."""

import base64
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

AUDIENCE: Final = "urn:sless"
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey

_WRITERS: Final[Mapping[str, type[RSAAlgorithm | ECAlgorithm | OKPAlgorithm]]] = {
    "RS256": RSAAlgorithm,
    "ES256": ECAlgorithm,
    "EdDSA": OKPAlgorithm,
}
_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth"})


@dataclass(frozen=True, slots=True)
class IssuerKey:
    """One key pair of an issuer."""

    kid: str
    algorithm: str
    private: PrivateKey

    @property
    def jwk(self) -> dict[str, Any]:
        """Private members included, as an issuer itself is configured."""
        writer: Any = _WRITERS[self.algorithm]
        members = writer.to_jwk(self.private, as_dict=True)
        # What to_jwk says of uses is that of the private half.
        members.pop("key_ops", None)
        return {**members, "kid": self.kid, "use": "sig", "alg": self.algorithm}

    @property
    def public_jwk(self) -> dict[str, Any]:
        """As an issuer publishes it."""
        return {name: value for name, value in self.jwk.items() if name not in _PRIVATE}

    def sign(self, claims: Mapping[str, Any], **headers: object) -> str:
        """A token; `headers` replace those that it would have."""
        # The library's own `encode` would refuse to sign some of what a verifier has to refuse.
        return jwt.api_jws.encode(
            json.dumps(dict(claims)).encode(),
            self.private,
            algorithm=self.algorithm,
            headers={"kid": self.kid, **headers},
        )


def make_key(kid: str, algorithm: str = "ES256") -> IssuerKey:
    if algorithm == "RS256":
        return IssuerKey(kid, algorithm, rsa.generate_private_key(65537, 2048))
    if algorithm == "ES256":
        return IssuerKey(kid, algorithm, ec.generate_private_key(ec.SECP256R1()))
    return IssuerKey(kid, algorithm, ed25519.Ed25519PrivateKey.generate())


def claims_of(issuer: str, **changes: object) -> dict[str, Any]:
    """Good claims; a change to None leaves one out."""
    now = int(time.time())
    content: dict[str, Any] = {
        "iss": issuer,
        "aud": AUDIENCE,
        "sub": "ann",
        "iat": now,
        "exp": now + 60,
        "groups": ["team-a"],
        **changes,
    }
    return {name: value for name, value in content.items() if value is not None}


def jwks_of(keys: Sequence[IssuerKey]) -> bytes:
    """As an issuer publishes them."""
    return json.dumps({"keys": [key.public_jwk for key in keys]}).encode()


def unsigned(header: object, content: object, signature: str = "") -> str:
    """A token of any header."""
    return f"{segment(header)}.{segment(content)}.{signature}"


def sign_by_secret(claims: Mapping[str, Any], secret: bytes, *, kid: str) -> str:
    """HS256, with a secret that the library would not take for one."""
    token = f"{segment({'alg': 'HS256', 'kid': kid})}.{segment(claims)}"
    return f"{token}.{segment(hmac.digest(secret, token.encode(), 'sha256'))}"


def segment(content: object) -> str:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
