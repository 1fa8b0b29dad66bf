"""Conditional requests: a Function's resourceVersion is its entity tag."""

import re
from typing import Annotated

from fastapi import Depends, Header

from sless.errors import InvalidSetting, VersionConflict
from sless.model.function import FunctionRef
from sless.ports.functions import StoredFunction

ANY_VERSION = "*"

_TAG = re.compile(r'(?:W/)?"([^"]{1,128})"|([^",\s]{1,128})')


def etag(resource_version: str) -> str:
    """As the ETag header has it."""
    return f'"{resource_version}"'


def _if_match(
    given: Annotated[
        str | None,
        Header(alias="If-Match", description="The ETag that was read: 412 if it is another now."),
    ] = None,
) -> str:
    if given is None:
        return ""
    if given.strip() == ANY_VERSION:
        return ANY_VERSION
    match = _TAG.fullmatch(given.strip())
    if match is None:
        raise InvalidSetting('If-Match takes one entity tag, such as "17".')
    return match[1] or match[2]


IfMatchDep = Annotated[str, Depends(_if_match)]
"""The version that a client names, or nothing."""


def check_match(if_match: str, stored: StoredFunction | None, ref: FunctionRef) -> None:
    """Raises `VersionConflict` unless the Function is at the version that the client names."""
    version = stored.function.resource_version if stored is not None else ""
    if not if_match or version == if_match or (version and if_match == ANY_VERSION):
        return
    found = f"is at version {version}" if version else "is not there"
    raise VersionConflict(f"Function {ref} {found}, not at {if_match}: read it again.")
