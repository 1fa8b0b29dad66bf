"""What a registry says in JSON, rubbish included: pure."""

import json
from collections.abc import Mapping
from typing import Any

_SAID_MAX = 200
"""Characters of a registry's own words that a message repeats."""


def parse_object(body: bytes) -> Mapping[str, Any]:
    """The JSON object of those bytes; raises `ValueError`, and nothing else."""
    try:
        content = json.loads(body)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(content, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004 - of bytes, not of a caller
    return content


def find_token(body: bytes) -> str | None:
    """The token that was bought, if there is one that a header can carry."""
    try:
        content = parse_object(body)
    except ValueError:
        return None
    token = content.get("token") or content.get("access_token")
    if not isinstance(token, str) or not (token.isascii() and token.isprintable()):
        return None
    return token


def find_complaint(body: bytes) -> str:
    """The first error in the form of the distribution specification; empty if there is none."""
    try:
        errors = parse_object(body).get("errors")
    except ValueError:
        return ""
    first = errors[0] if isinstance(errors, list) and errors else None
    if not isinstance(first, dict):
        return ""
    said = first.get("message") or first.get("code")
    return said[:_SAID_MAX] if isinstance(said, str) else ""
