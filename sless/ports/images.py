"""The image registry, as far as the pipeline sees it."""

from typing import Protocol

from sless.model.function import FunctionRef


class Images(Protocol):
    """Every method may raise `RegistryUnavailable`."""

    async def find(self, function: FunctionRef, tag: str) -> str | None:
        """The digest (`sha256:<hex>`) that a tag answers, its manifest verified; or none."""
        ...

    async def promote(self, function: FunctionRef, *, digest: str, tag: str) -> str:
        """Tags a manifest unless the tag is there; the digest which the tag then answers."""
        ...

    def reference(self, function: FunctionRef, digest: str) -> str:
        """What runs the image: `<repository as nodes pull it>@sha256:<hex>`."""
        ...
