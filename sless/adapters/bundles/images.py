"""The image registry as files: manifests by digest, tags by function, trees by content."""

import asyncio
import contextlib
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from sless.adapters.bundles.bundle import Bundle, parse_bundle
from sless.adapters.bundles.trees import Trees
from sless.errors import RegistryUnavailable
from sless.files import write_once
from sless.model.function import FunctionRef

_DIGEST = re.compile(r"sha256:(?P<hex>[0-9a-f]{64})", re.ASCII)
_REGISTRY = "local"
"""Stands where a registry's address would."""


class BundleImages:
    """`Images` below the folder `root`, which is made if it is not there."""

    def __init__(self, root: Path) -> None:
        self.trees = Trees(root)
        self._manifests = root / "manifests"
        self._tags = root / "tags"
        for folder in (self._manifests, self._tags):
            folder.mkdir(parents=True, exist_ok=True)

    async def find(self, function: FunctionRef, tag: str) -> str | None:
        """See the port."""
        return await asyncio.to_thread(self._find, function, tag)

    async def promote(self, function: FunctionRef, *, digest: str, tag: str) -> str:
        """See the port."""
        return await asyncio.to_thread(self._promote, function, digest, tag)

    def reference(self, function: FunctionRef, digest: str) -> str:
        """See the port."""
        return f"{_REGISTRY}/{function.namespace}/{function.name}@{digest}"

    def push(self, function: FunctionRef, *, bundle: Bundle, tag: str) -> str:
        """Stores a bundle whose trees are kept, and tags it; the digest that the tag answers."""
        with _translated():
            write_once(self._manifest(bundle.digest), bundle.to_json())
        return self._promote(function, bundle.digest, tag)

    def find_bundle(self, reference: str) -> Bundle | None:
        """What a reference by digest names; none unless its manifest and all its trees are there.

        Raises `RegistryUnavailable`.
        """
        digest = reference.rpartition("@")[2]
        if not _DIGEST.fullmatch(digest):
            return None
        with _translated():
            bundle = self._read(digest)
            return bundle if bundle and all(map(self.trees.has, bundle.trees)) else None

    def _find(self, function: FunctionRef, tag: str) -> str | None:
        with _translated():
            try:
                digest = self._tag(function, tag).read_text()
            except FileNotFoundError:
                return None
        return digest if self.find_bundle(digest) else None

    def _promote(self, function: FunctionRef, digest: str, tag: str) -> str:
        if self.find_bundle(digest) is None:
            raise RegistryUnavailable(
                f"The image {self.reference(function, digest)} is not there, or not whole."
            )
        path = self._tag(function, tag)
        with _translated():
            path.parent.mkdir(parents=True, exist_ok=True)
            if not write_once(path, digest.encode()) and self._find(function, tag) is None:
                # A tag whose image was deleted names nothing: it is free again.
                path.unlink(missing_ok=True)
                write_once(path, digest.encode())
            return path.read_text()

    def _read(self, digest: str) -> Bundle | None:
        try:
            text = self._manifest(digest).read_bytes()
        except FileNotFoundError:
            return None
        whole = f"sha256:{hashlib.sha256(text).hexdigest()}" == digest
        return parse_bundle(text) if whole else None

    def _manifest(self, digest: str) -> Path:
        return self._manifests / f"{digest.removeprefix('sha256:')}.json"

    def _tag(self, function: FunctionRef, tag: str) -> Path:
        return self._tags / function.namespace / function.name / tag


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RegistryUnavailable(f"The folder of images cannot be used: {error}.") from error
