"""What the worker takes from a home; the rest of the pipeline is the same in both."""

from collections.abc import Mapping
from dataclasses import dataclass

from sless.archive import Runtime
from sless.dependencies import Language
from sless.ports import Builder, Deployments, Functions, Images


@dataclass(frozen=True, slots=True)
class PipelinePorts:
    """The adapters of one home."""

    functions: Functions
    deployments: Deployments
    builder: Builder
    images: Images
    runtimes: Mapping[str, Runtime]
    """On offer, by name."""
    runtime_files: Mapping[Language, Mapping[str, bytes]]
    """What serves a handler, by path below a context's `runtime/`."""
