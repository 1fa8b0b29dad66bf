"""Where images lie: one registry, under the address to push to and the one nodes pull from."""

from dataclasses import dataclass

from sless.model.function import FunctionRef
from sless.naming import flat_image_repository, image_repository


@dataclass(frozen=True, slots=True)
class RegistryPlace:
    """The registry's addresses, and the names of images in it."""

    push: str
    """`host[:port]` that this program and the pushing container talk to."""
    pull: str = ""
    """`host[:port]` that nodes pull from; empty where it is the same."""
    prefix: str = "sless"
    """What every repository starts with; with flat names, the owner."""
    flat: bool = False
    """Whether the registry knows `owner/name` only."""
    plain_http: frozenset[str] = frozenset()
    """Addresses spoken with without TLS."""

    @property
    def url(self) -> str:
        """Of the registry's API."""
        scheme = "http" if self.is_plain(self.push) else "https"
        return f"{scheme}://{self.push}"

    def is_plain(self, address: str) -> bool:
        """Whether that address speaks plain HTTP."""
        return address in self.plain_http

    def repository(self, function: FunctionRef) -> str:
        """A function's repository, below the registry's address."""
        name = flat_image_repository if self.flat else image_repository
        return name(self.prefix, function.namespace, function.name)

    def destination(self, function: FunctionRef, tag: str) -> str:
        """What a builder pushes to."""
        return f"{self.push}/{self.repository(function)}:{tag}"

    def reference(self, function: FunctionRef, digest: str) -> str:
        """What a node pulls."""
        return f"{self.pull or self.push}/{self.repository(function)}@{digest}"
