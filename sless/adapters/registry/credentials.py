"""A registry's user and password, from the file that `docker login` writes."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sless.errors import RegistryDenied

_DOCKER_HUB = frozenset({"docker.io", "index.docker.io", "registry-1.docker.io"})
"""One registry under three names; `docker login` writes the second."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who we are to a registry."""

    user: str
    password: str = field(repr=False)

    @property
    def basic(self) -> str:
        """The value of an Authorization header."""
        pair = f"{self.user}:{self.password}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"


def read_credentials(path: Path, address: str) -> Credentials | None:
    """Those for the registry at that address, read anew: a mounted Secret is replaced at times.

    Raises `RegistryDenied` when the file cannot be read or used.
    """
    try:
        return parse_credentials(path.read_text(), address)
    except (OSError, ValueError) as error:
        raise RegistryDenied(
            f"SLESS_REGISTRY__CREDENTIALS names {path}, which is no usable Docker configuration: "
            f"{error}."
        ) from error


def parse_credentials(text: str, address: str) -> Credentials | None:
    """Those for `host[:port]` in a Docker config.json.

    Raises `ValueError`; its message repeats nothing of the file.
    """
    try:
        auths: Mapping[str, Any] = json.loads(text).get("auths") or {}
        entry = next((auths[key] for key in auths if _names(key, address)), None)
        return None if entry is None else _parse_entry(entry, address)
    except (json.JSONDecodeError, AttributeError, TypeError, RecursionError):
        # `from None`: a JSON error carries the whole text, password included.
        raise ValueError("it is no JSON object with auths") from None


def _names(key: str, address: str) -> bool:
    host = key.partition("://")[2] or key
    host = host.partition("/")[0]
    return host == address or {host, address} <= _DOCKER_HUB


def _parse_entry(entry: Mapping[str, Any], address: str) -> Credentials:
    if entry.get("identitytoken"):
        raise ValueError(f"for {address} it has an identity token; give a user and a password")
    if entry.get("username"):
        return _check_text(Credentials(str(entry["username"]), str(entry.get("password", ""))))
    try:
        # Others than `docker login` break lines, as base64 allows.
        packed = "".join(entry.get("auth", "").split())
        pair = base64.b64decode(packed, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise ValueError(f"for {address} its auth is no base64 of user:password") from None
    user, colon, password = pair.partition(":")
    if not colon:
        raise ValueError(f"for {address} it has neither auth nor username")
    return Credentials(user, password)


def _check_text(credentials: Credentials) -> Credentials:
    try:
        f"{credentials.user}{credentials.password}".encode()
    except UnicodeEncodeError:
        raise ValueError("its user or password is no text") from None
    return credentials
