"""Tokens that a home signs with a key of its own, and the verifier that reads them."""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from sless.errors import InvalidSetting
from sless.files import write_once
from sless.tokens.faults import TokenFault, refuse
from sless.tokens.identity import ISSUER, Identity
from sless.tokens.reading import (
    Expected,
    VerificationKey,
    check_size,
    read_claims,
    read_key_id,
)

ALGORITHM = "EdDSA"
AUDIENCE = "sless-api"
TOKEN_BYTES = 8 * 1024
"""Longer tokens are refused unread: parsing 8 MB of them takes 0.3 s."""
LEEWAY = timedelta(seconds=5)
"""How far two clocks may differ."""

_KEY_FILE = "signing.pem"
_EXPECTED = Expected(issuer=ISSUER, audience=AUDIENCE, leeway=LEEWAY)
_OTHERS_MAY = 0o077
"""Permission bits that a private key must not have."""


@dataclass(frozen=True, slots=True)
class KeyVerifier:
    """Reads tokens signed by one Ed25519 key: no header of a token can choose another one."""

    key: Ed25519PublicKey

    async def verify(self, token: str) -> Identity:
        """See the protocol."""
        check_size(token, limit=TOKEN_BYTES)
        if read_key_id(token, algorithms={ALGORITHM}) != key_id(self.key):
            raise refuse(
                TokenFault.KEY, "The token was signed with a key that is not this server's."
            )
        return _parse_identity(read_claims(token, VerificationKey(ALGORITHM, self.key), _EXPECTED))


@dataclass(frozen=True, slots=True)
class SigningKey:
    """The home's own key."""

    private: Ed25519PrivateKey

    def sign(self, *, sub: str, namespaces: Sequence[str], ttl: timedelta) -> str:
        """A token for these namespaces; `["*"]` is all of them."""
        now = int(time.time())
        claims = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": sub,
            "iat": now,
            "exp": now + int(ttl.total_seconds()),
            "namespaces": list(namespaces),
        }
        kid = key_id(self.private.public_key())
        return jwt.encode(claims, self.private, algorithm=ALGORITHM, headers={"kid": kid})

    def verifier(self) -> KeyVerifier:
        """What reads this key's tokens."""
        return KeyVerifier(self.private.public_key())


def key_id(key: Ed25519PublicKey) -> str:
    """What a token's header names a key by: 16 hexadecimal digits."""
    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:16]


def ensure_signing_key(folder: Path) -> SigningKey:
    """The key that lies in a folder; made there first, readable by its owner alone.

    Two processes that make it at once end with the same one. Raises `InvalidSetting` when the file
    is none, or others may read it.
    """
    path = folder / _KEY_FILE
    if not path.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_once(path, _new_key())
    if path.stat().st_mode & _OTHERS_MAY:
        raise InvalidSetting(f"{path} can be read by others; take the right away: chmod 600.")
    return SigningKey(_load(path))


def _new_key() -> bytes:
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _load(path: Path) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (ValueError, TypeError) as error:
        raise InvalidSetting(f"{path} holds no private key; delete it to get a new one.") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise InvalidSetting(f"{path} holds no Ed25519 key; delete it to get a new one.")
    return key


def _parse_identity(claims: dict[str, Any]) -> Identity:
    namespaces = claims.get("namespaces")
    if not isinstance(namespaces, list) or not all(isinstance(item, str) for item in namespaces):
        raise refuse(TokenFault.CLAIMS, "The token names no namespaces; get a new one.")
    return Identity(sub=claims["sub"], namespaces=tuple(namespaces))
