"""JSON merge patch (RFC 7386)."""

from collections.abc import Mapping
from typing import Any


def merge_patch(target: object, patch: object) -> Any:
    """The target as patched: mappings merge, None removes, all else replaces. Neither is touched.

    The result shares its unpatched parts with the target.
    """
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged
