"""Envoy's messages as JSON: trees of dicts, and their bytes."""

import hashlib
import json
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
"""A protobuf message in its JSON form, field names as in the .proto file."""

TYPES = "type.googleapis.com/"
_VERSION_LENGTH = 16


def typed(type_name: str, fields: Json | None = None) -> Json:
    """A `google.protobuf.Any` of that message type."""
    return {"@type": TYPES + type_name, **(fields or {})}


def extension(name: str, type_name: str, fields: Json | None = None) -> Json:
    """An extension's entry in a list of filters, matchers, loggers and the like."""
    return {"name": name, "typed_config": typed(type_name, fields)}


def seconds(value: float) -> str:
    """A `google.protobuf.Duration`."""
    return f"{value:.3f}s"


def discovery(resources: list[Json]) -> Json:
    """A DiscoveryResponse whose version is a hash of its resources."""
    version = hashlib.sha256(dump(resources)).hexdigest()[:_VERSION_LENGTH]
    return {"version_info": version, "resources": resources}


def dump(message: Json | list[Json]) -> bytes:
    """The same message gives the same bytes."""
    return json.dumps(message, sort_keys=True, separators=(",", ":")).encode()
