"""`Images` on any registry that speaks the OCI distribution API."""

import asyncio
from weakref import WeakValueDictionary

import httpx

from sless.adapters.registry.manifest import (
    MEDIA_TYPES,
    Manifest,
    UnsoundManifest,
    check_manifest,
)
from sless.adapters.registry.session import Answer, RegistrySession
from sless.errors import RegistryUnavailable
from sless.model.function import FunctionRef


class RegistryImages:
    """Reads and tags manifests; layers are the builder's to push and the node's to pull."""

    def __init__(self, session: RegistrySession) -> None:
        self._session = session
        self._place = session.place
        self._promoting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def find(self, function: FunctionRef, tag: str) -> str | None:
        """See the port; raises `RegistryDenied` too."""
        manifest = await self._find(function, tag)
        return None if manifest is None else manifest.digest

    async def promote(self, function: FunctionRef, *, digest: str, tag: str) -> str:
        """See the port; raises `RegistryDenied` too.

        No registry writes a tag only if it is absent: this looks first, one at a time in this
        process, and takes what the tag answers afterwards.
        """
        lock = self._promoting.setdefault(f"{function}:{tag}", asyncio.Lock())
        async with lock:
            return await self.find(function, tag) or await self._tag(function, digest, tag)

    def reference(self, function: FunctionRef, digest: str) -> str:
        """See the port."""
        return self._place.reference(function, digest)

    async def _tag(self, function: FunctionRef, digest: str, tag: str) -> str:
        manifest = await self._find(function, digest)
        if manifest is None:
            raise RegistryUnavailable(
                f"The image {self.reference(function, digest)} is not in the registry."
            )
        answer = await self._session.request(
            "PUT",
            self._path(function, tag),
            headers={"Content-Type": manifest.media_type},
            content=manifest.content,
        )
        # Read again whatever it said: where tags cannot be moved, another one was here first.
        found = await self.find(function, tag)
        if found is None:
            raise self._unexpected(answer, f"to tag {tag} being written")
        return found

    async def _find(self, function: FunctionRef, reference: str) -> Manifest | None:
        """By tag or digest."""
        answer = await self._session.request(
            "GET", self._path(function, reference), headers={"Accept": ", ".join(MEDIA_TYPES)}
        )
        if answer.status == httpx.codes.NOT_FOUND and not _is_page(answer):
            return None
        if answer.status != httpx.codes.OK:
            raise self._unexpected(answer, f"about {self._place.repository(function)}:{reference}")
        by_digest = reference if ":" in reference else ""
        announced = by_digest or answer.headers.get("docker-content-digest", "")
        try:
            return check_manifest(
                answer.body,
                media_type=answer.headers.get("content-type", ""),
                announced=announced,
            )
        except UnsoundManifest as error:
            raise RegistryUnavailable(
                f"The registry at {self._place.push} answers unsoundly: {error}."
            ) from error

    def _path(self, function: FunctionRef, reference: str) -> str:
        return f"/v2/{self._place.repository(function)}/manifests/{reference}"

    def _unexpected(self, answer: Answer, about: str) -> RegistryUnavailable:
        return RegistryUnavailable(
            f"The registry at {self._place.push} answers {answer.status} {about}: check "
            "SLESS_REGISTRY__PUSH and SLESS_REGISTRY__PREFIX."
        )


def _is_page(answer: Answer) -> bool:
    """A web server's own words: what is there is no registry."""
    return answer.headers.get("content-type", "").startswith("text/html")
