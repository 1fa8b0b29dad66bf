"""Who asks: tokens of a home's own key, and what every verifier promises."""

from sless.tokens.identity import EVERY_NAMESPACE, ISSUER, Identity, Verifier
from sless.tokens.own_key import (
    ALGORITHM,
    AUDIENCE,
    LEEWAY,
    TOKEN_BYTES,
    KeyVerifier,
    SigningKey,
    ensure_signing_key,
    key_id,
)

__all__ = [
    "ALGORITHM",
    "AUDIENCE",
    "EVERY_NAMESPACE",
    "ISSUER",
    "LEEWAY",
    "TOKEN_BYTES",
    "Identity",
    "KeyVerifier",
    "SigningKey",
    "Verifier",
    "ensure_signing_key",
    "key_id",
]
