"""A registry in memory: `Images` for tests that need no real one."""

import hashlib

from sless.errors import RegistryDenied, RegistryUnavailable
from sless.model.function import FunctionRef


def digest_of(content: str) -> str:
    """The digest of a pretended manifest."""
    return f"sha256:{hashlib.sha256(content.encode()).hexdigest()}"


class FakeImages:
    """Tags and manifests per function; every call fails while `unavailable` or `denied` is set."""

    def __init__(self, *, repository: str = "fake") -> None:
        self.unavailable = False
        self.denied = False
        self._repository = repository
        self._manifests: set[tuple[FunctionRef, str]] = set()
        self._tags: dict[tuple[FunctionRef, str], str] = {}

    async def find(self, function: FunctionRef, tag: str) -> str | None:
        """See the port."""
        self._check_available()
        digest = self._tags.get((function, tag))
        return digest if (function, digest) in self._manifests else None

    async def promote(self, function: FunctionRef, *, digest: str, tag: str) -> str:
        """See the port."""
        self._check_available()
        if (function, digest) not in self._manifests:
            raise RegistryUnavailable(f"{self.reference(function, digest)} is not there.")
        if await self.find(function, tag) is None:
            self._tags[function, tag] = digest
        return self._tags[function, tag]

    def reference(self, function: FunctionRef, digest: str) -> str:
        """See the port."""
        return f"{self._repository}/{function.namespace}/{function.name}@{digest}"

    def push(self, function: FunctionRef, *, tag: str, digest: str) -> None:
        """What a builder's pushing container does; a tag may move."""
        self._manifests.add((function, digest))
        self._tags[function, tag] = digest

    def remove(self, function: FunctionRef, digest: str) -> None:
        """Deletes a manifest by hand: its tags stay and find nothing any more."""
        self._manifests.discard((function, digest))

    def tags(self, function: FunctionRef) -> dict[str, str]:
        """Every tag of a function with its digest."""
        return {tag: digest for (owner, tag), digest in self._tags.items() if owner == function}

    def _check_available(self) -> None:
        if self.unavailable:
            raise RegistryUnavailable("The registry does not answer.")
        if self.denied:
            raise RegistryDenied("The registry refuses our password.")
