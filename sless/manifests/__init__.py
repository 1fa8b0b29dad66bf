"""Function manifests: read, rendered, checked, merged and owned, all without I/O."""

from sless.manifests.check import check_annotations, check_labels, check_spec
from sless.manifests.merge import merge_patch
from sless.manifests.parse import API_VERSION, KIND, parse_function, parse_spec, render_spec

__all__ = [
    "API_VERSION",
    "KIND",
    "check_annotations",
    "check_labels",
    "check_spec",
    "merge_patch",
    "parse_function",
    "parse_spec",
    "render_spec",
]
