"""From what a client sent to a patch of the Function's spec; pure."""

import secrets
from collections.abc import Mapping
from typing import Any

from api.models import EnvEntry, Settings, SpecPatch
from sless.manifests import check_spec, merge_patch
from sless.model.function import FunctionRef
from sless.naming import S3Key, parse_own_key

SpecChange = dict[str, Any]
"""A merge patch of a spec: None removes a field."""

_ANY_SHA256 = "0" * 64


def fresh_request() -> str:
    """A token that makes the same settings a new ask."""
    return secrets.token_hex(8)


def settings_change(settings: Settings) -> SpecChange:
    """The patch for the settings that were given; those left out keep their value.

    Empty and null are one thing, absent, so that equal settings are equal bytes.
    """
    change: SpecChange = {}
    given = settings.model_fields_set
    if "handler" in given:
        change["handler"] = settings.handler
    if "command" in given:
        change["command"] = settings.command or None
    if "env" in given:
        change["env"] = _env(settings.env) or None
    return change


def key_change(key: S3Key) -> SpecChange:
    """The patch that asks for a zip: its runtime rides along, as the rule demands."""
    return {"s3Key": str(key), "runtime": key.runtime}


def patch_change(patch: SpecPatch, ref: FunctionRef) -> SpecChange:
    """The patch that a client's merge patch means; raises `InvalidKey`."""
    change = settings_change(patch)
    if patch.s3_key is not None:
        key = parse_own_key(patch.s3_key, namespace=ref.namespace, name=ref.name)
        change |= key_change(key)
    return change


def check_change(change: SpecChange, ref: FunctionRef, *, runtime: str) -> None:
    """Raises for settings that could not be, before anything is stored for them."""
    key = S3Key(ref.namespace, ref.name, _ANY_SHA256, runtime)
    check_merged(key_change(key), change, ref)


def check_merged(spec: Mapping[str, Any], change: SpecChange, ref: FunctionRef) -> None:
    """Raises for a spec that a patch would make wrong: `InvalidSetting`, `InvalidKey`."""
    merged = merge_patch(spec, change)
    check_spec(merged, namespace=ref.namespace, name=ref.name, previous=spec)


def _env(env: list[EnvEntry] | dict[str, str] | None) -> list[dict[str, str]]:
    entries = env or []
    if isinstance(entries, dict):
        entries = [EnvEntry(name=name, value=entries[name]) for name in sorted(entries)]
    return [{"name": entry.name, "value": entry.value} for entry in entries]
