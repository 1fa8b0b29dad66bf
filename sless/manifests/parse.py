"""Manifests to Functions and back.

Reading asks for the shape alone, not for today's limits: a Function stored under older rules
stays readable.
"""

from collections.abc import Mapping
from typing import Any

from sless.errors import InvalidSetting
from sless.model.function import EnvVar, Function, FunctionSpec

API_VERSION = "sless.io/v1alpha1"
KIND = "Function"


def parse_function(manifest: Mapping[str, Any]) -> Function:
    """The Function in a manifest; raises `InvalidSetting` naming the field that is wrong."""
    metadata = _mapping(manifest, "metadata")
    generation = metadata.get("generation")
    if not isinstance(generation, int) or isinstance(generation, bool):
        raise InvalidSetting("metadata.generation must be a number.")
    return Function(
        namespace=_text(metadata, "namespace", under="metadata"),
        name=_text(metadata, "name", under="metadata"),
        uid=_text(metadata, "uid", under="metadata"),
        generation=generation,
        resource_version=_text(metadata, "resourceVersion", under="metadata"),
        spec=parse_spec(_mapping(manifest, "spec")),
        annotations=_texts(metadata, "annotations", under="metadata"),
    )


def parse_spec(spec: Mapping[str, Any]) -> FunctionSpec:
    """The spec as a value; raises `InvalidSetting` naming the field that is wrong."""
    return FunctionSpec(
        s3_key=_text(spec, "s3Key"),
        runtime=_text(spec, "runtime"),
        handler=_optional_text(spec, "handler"),
        command=_parse_command(spec.get("command")),
        env=_parse_env(spec.get("env")),
        request=_optional_text(spec, "request"),
    )


def render_spec(spec: FunctionSpec) -> dict[str, Any]:
    """A spec as a manifest has it, unset fields left out."""
    rendered: dict[str, Any] = {"s3Key": spec.s3_key, "runtime": spec.runtime}
    if spec.handler is not None:
        rendered["handler"] = spec.handler
    if spec.command:
        rendered["command"] = list(spec.command)
    if spec.env:
        rendered["env"] = [{"name": each.name, "value": each.value} for each in spec.env]
    if spec.request is not None:
        rendered["request"] = spec.request
    return rendered


def _parse_command(command: object) -> tuple[str, ...]:
    if command is None:
        return ()
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        raise InvalidSetting("spec.command must be a list of strings.")
    return tuple(command)


def _parse_env(env: object) -> tuple[EnvVar, ...]:
    if env is None:
        return ()
    if not isinstance(env, list):
        raise InvalidSetting("spec.env must be a list of {name, value}.")
    return tuple(_parse_variable(entry, f"spec.env[{at}]") for at, entry in enumerate(env))


def _parse_variable(entry: object, where: str) -> EnvVar:
    if not isinstance(entry, Mapping) or set(entry) != {"name", "value"}:
        raise InvalidSetting(f"{where} must have exactly a name and a value.")
    return EnvVar(_text(entry, "name", under=where), _text(entry, "value", under=where))


def _mapping(parent: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = parent.get(key)
    if not isinstance(value, Mapping):
        raise InvalidSetting(f"{key} must be an object.")
    return value


def _text(parent: Mapping[str, Any], key: str, *, under: str = "spec") -> str:
    if key not in parent:
        raise InvalidSetting(f"{under}.{key} is missing.")
    value = parent[key]
    if not isinstance(value, str):
        raise InvalidSetting(f"{under}.{key} must be a string.")
    return value


def _optional_text(parent: Mapping[str, Any], key: str) -> str | None:
    return None if parent.get(key) is None else _text(parent, key)


def _texts(parent: Mapping[str, Any], key: str, *, under: str) -> dict[str, str]:
    values = parent.get(key) or {}
    if not isinstance(values, Mapping):
        raise InvalidSetting(f"{under}.{key} must be an object.")
    return {name: _text(values, name, under=f"{under}.{key}") for name in values}
