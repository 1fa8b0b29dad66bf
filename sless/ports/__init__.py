"""The ports: what the pipeline needs from a home. Each has one contract suite for all adapters."""

from sless.ports.builder import Builder
from sless.ports.deployments import Deployments
from sless.ports.functions import Functions
from sless.ports.images import Images
from sless.ports.issuer import Issuer
from sless.ports.objects import Objects
from sless.ports.runs import Runs
from sless.ports.scene import Scene
from sless.ports.warnings import Warnings

__all__ = [
    "Builder",
    "Deployments",
    "Functions",
    "Images",
    "Issuer",
    "Objects",
    "Runs",
    "Scene",
    "Warnings",
]
