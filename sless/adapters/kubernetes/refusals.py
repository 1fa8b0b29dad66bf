"""The API server's refusals as our errors, in its own words."""

import re
from collections.abc import Mapping
from typing import Any

from sless.errors import (
    AlreadyExists,
    Forbidden,
    InvalidKey,
    InvalidSetting,
    ManagedElsewhere,
    NamespaceNotFound,
    SlessError,
    StoreUnavailable,
    VersionConflict,
)

KEY_POLICY = "sless-s3key"
"""The ValidatingAdmissionPolicy of our chart that keeps s3Keys apart."""

_DENIED = re.compile(
    r"(ValidatingAdmissionPolicy '(?P<policy>[^']*)'.*|admission webhook .*)"
    r"denied (the )?request: (?P<said>.*)",
    re.DOTALL,
)
_NO_RIGHT = re.compile(r'User "[^"]*" cannot ')
_CONFLICT = re.compile(r'conflict with "(?P<manager>[^"]*)"')


def translate(code: int, told: Mapping[str, Any]) -> SlessError:
    """The error for an answer of HTTP status `code` with that `Status` as its body.

    A 404 for an object that was named is no error: the caller has to look first.
    """
    reason, said = told.get("reason", ""), str(told.get("message") or f"HTTP {code}")
    denied = _DENIED.search(said)
    if denied is not None:
        invalid = InvalidKey if denied["policy"] == KEY_POLICY else InvalidSetting
        return invalid(denied["said"])
    if reason == "AlreadyExists":
        return AlreadyExists(f"{_subject(told)} exists already.")
    match code:
        case 400 | 413 | 415 | 422:
            return _translate_invalid(told, said)
        case 403:
            return _translate_forbidden(told, said)
        case 404:
            return _translate_missing(told, said)
        case 409:
            return _translate_conflict(told, said)
        case 410:
            return VersionConflict(f"The API server forgot that version: {said}")
        case _:
            return StoreUnavailable(f"The API server answered {code}: {said}")


def _translate_invalid(told: Mapping[str, Any], said: str) -> InvalidSetting | InvalidKey:
    causes = _causes(told)
    if not causes:
        return InvalidSetting(said)
    text = "; ".join(_sentence(cause) for cause in causes)
    # The schema speaks first; rules that stumble over what it refused come after.
    about_key = causes[0].get("field") == "spec.s3Key"
    return InvalidKey(text) if about_key else InvalidSetting(text)


def _translate_forbidden(told: Mapping[str, Any], said: str) -> SlessError:
    if any(cause.get("reason") == "NamespaceTerminating" for cause in _causes(told)):
        return NamespaceNotFound(f"{said[:1].upper()}{said[1:]}")
    if _NO_RIGHT.search(said):
        # An operator has to grant it; until then we come back, as to a server that is away.
        return StoreUnavailable(f"The API server refuses us a right: {said}")
    return Forbidden(said)


def _translate_missing(told: Mapping[str, Any], said: str) -> SlessError:
    details = told.get("details") or {}
    if details.get("kind") == "namespaces":
        return NamespaceNotFound(f"There is no namespace {details.get('name')}: make it first.")
    # Not even a Status: the kind itself is unknown.
    return StoreUnavailable(
        f"The API server does not know what we asked for ({said.strip()}): is k8s/chart installed?"
    )


def _translate_conflict(told: Mapping[str, Any], said: str) -> SlessError:
    fields = [each for each in _causes(told) if each.get("reason") == "FieldManagerConflict"]
    if not fields:
        return VersionConflict(f"{said.rstrip('.')}: read it again.")
    first = fields[0]
    owner = _CONFLICT.search(str(first.get("message", "")))
    field = str(first.get("field", "")).removeprefix(".")
    return ManagedElsewhere(
        f"{field} is managed by {owner['manager'] if owner else 'another'!r}: change it there."
    )


def _causes(told: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list((told.get("details") or {}).get("causes") or ())


def _sentence(cause: Mapping[str, Any]) -> str:
    field, said = cause.get("field", ""), str(cause.get("message", ""))
    return f"{field}: {said}" if field and field != "<nil>" else said


def _subject(told: Mapping[str, Any]) -> str:
    details = told.get("details") or {}
    return f"{details.get('kind', 'object')} {details.get('name', '')}".strip()
