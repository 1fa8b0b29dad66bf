"""What may be wrong with a token: a short closed list, for counting without the token's content."""

from enum import StrEnum

import jwt
from jwt.exceptions import InvalidSubjectError

from sless.errors import Unauthenticated


class TokenFault(StrEnum):
    """The check that refused a token; the first one that did."""

    MISSING = "missing"
    """No token, or an Authorization header of another form."""
    TOO_LARGE = "too-large"
    MALFORMED = "malformed"
    """No JWT, or one of a type that is no access to an API."""
    ISSUER = "issuer"
    """Nobody whom this server trusts."""
    ALGORITHM = "algorithm"
    KEY = "key"
    """Signed with a key that its issuer does not publish."""
    SIGNATURE = "signature"
    EXPIRED = "expired"
    EARLY = "early"
    """Issued or valid only in the future."""
    AUDIENCE = "audience"
    CLAIMS = "claims"
    """A claim lacks that must be there, or has a form that cannot be."""


_KNOWN: tuple[tuple[type[Exception], TokenFault, str], ...] = (
    (jwt.ExpiredSignatureError, TokenFault.EXPIRED, "The token has expired; get a new one."),
    (jwt.ImmatureSignatureError, TokenFault.EARLY, "The token is not valid yet; compare clocks."),
    (jwt.InvalidIssuerError, TokenFault.ISSUER, "The token is from an issuer not trusted here."),
    (jwt.MissingRequiredClaimError, TokenFault.CLAIMS, "The token lacks one of its claims."),
    (InvalidSubjectError, TokenFault.CLAIMS, "The token's subject is no text."),
    (jwt.InvalidSignatureError, TokenFault.SIGNATURE, "The token does not hold; get a new one."),
    (jwt.InvalidAlgorithmError, TokenFault.ALGORITHM, "The token is not signed as its key signs."),
)
"""The first that fits."""

FOREIGN = (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError)
"""What reading a hostile token may raise: huge numbers overflow, deep nesting recurses."""


def refuse(fault: TokenFault, message: str) -> Unauthenticated:
    """The error for a fault of our own finding."""
    return Unauthenticated(message, fault=fault)


def refusal_of(error: Exception) -> Unauthenticated:
    """The error for what the library found."""
    for kind, fault, message in _KNOWN:
        if isinstance(error, kind):
            return refuse(fault, message)
    return refuse(TokenFault.MALFORMED, "The token does not hold; get a new one.")
