"""A manifest as a registry answered it, checked against its digest: pure."""

import hashlib
from dataclasses import dataclass

from sless.adapters.registry.words import parse_object

MEDIA_TYPES = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
"""Images and indexes of both kinds; what came before them had no digest worth the name."""


_KIND_MAX = 100
"""Characters of an unknown kind that a message repeats."""


class UnsoundManifest(ValueError):
    """The bytes are no manifest, or not those that were announced."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The bytes are kept as they came: another spelling has another digest."""

    content: bytes
    media_type: str
    digest: str
    """`sha256:<hex>` of `content`."""


def check_manifest(content: bytes, *, media_type: str, announced: str = "") -> Manifest:
    """The manifest of those bytes; raises `UnsoundManifest`.

    Args:
        content: As they came.
        media_type: What the registry says of them; parameters are dropped.
        announced: A digest that they must have, or nothing; one that is no sha256 says nothing.
    """
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    if announced.startswith("sha256:") and announced != digest:
        raise UnsoundManifest(f"the bytes of {announced} have the digest {digest}")
    try:
        inner = parse_object(content).get("mediaType")
    except ValueError:
        raise UnsoundManifest(f"{digest} is no manifest") from None
    kind = _bare(media_type) if _is_known(media_type) else str(inner)[:_KIND_MAX]
    if not _is_known(kind):
        raise UnsoundManifest(f"{digest} is a manifest of the unknown kind {kind!r}")
    return Manifest(content, kind, digest)


def _bare(media_type: str) -> str:
    return media_type.partition(";")[0].strip()


def _is_known(media_type: str) -> bool:
    return _bare(media_type) in MEDIA_TYPES
