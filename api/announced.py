"""What an upload's headers announce: its media type, its length and its hash."""

import base64
import binascii
import re
from dataclasses import dataclass

from starlette.datastructures import Headers

from sless.errors import ChecksumMismatch, ContentTypeUnsupported, InvalidSetting, RequestTooLarge

OWN_DIGEST = "sless-content-sha256"
_DIGESTS = ("repr-digest", "content-digest")
_ZIP_TYPES = frozenset(
    {
        "application/zip",
        "application/x-zip-compressed",
        "application/zip-compressed",
        "application/octet-stream",
        "",
    }
)
_FORM = "multipart/form-data"
FORM_OVERHEAD_BYTES = 1024 * 1024
"""What a form may have around its zip: settings and boundaries."""
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_ENTRY = re.compile(r"\s*sha-256\s*=\s*:([A-Za-z0-9+/=]*):\s*")


@dataclass(frozen=True, slots=True)
class Announced:
    """What is to be held against what arrives."""

    form: bool
    """Whether the body is multipart/form-data."""
    sha256: str = ""
    """Of the zip, in hexadecimal; empty when nothing was announced."""


def parse_announced(headers: Headers, *, limit: int) -> Announced:
    """Refuses what need not be read to be refused.

    Raises `ContentTypeUnsupported`, `RequestTooLarge`, `InvalidSetting`.
    """
    form = _is_form(headers)
    _check_length(headers, limit=limit, overhead=FORM_OVERHEAD_BYTES if form else 0)
    return Announced(form=form, sha256=_own_digest(headers) or _standard_digest(headers, form=form))


def check_arrived(announced: Announced, sha256: str) -> None:
    """Raises `ChecksumMismatch` when other bytes arrived than were announced."""
    if announced.sha256 and announced.sha256 != sha256:
        raise ChecksumMismatch(
            f"The zip that arrived has the sha256 {sha256}, not {announced.sha256}: send it again."
        )


def _is_form(headers: Headers) -> bool:
    media = headers.get("content-type", "").partition(";")[0].strip().lower()
    coding = headers.get("content-encoding", "identity").strip().lower()
    if coding not in {"identity", ""}:
        raise ContentTypeUnsupported(
            f"Send the zip as it is, without Content-Encoding {coding[:40]!r}: it is compressed."
        )
    if media == _FORM:
        return True
    if media not in _ZIP_TYPES:
        raise ContentTypeUnsupported(
            f"The body is announced as {media[:80]!r}; send a zip with Content-Type: "
            f"application/zip (curl -T code.zip), or {_FORM}."
        )
    return False


def _check_length(headers: Headers, *, limit: int, overhead: int) -> None:
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length) > limit + overhead:
        raise too_large(limit)


def too_large(limit: int) -> RequestTooLarge:
    """The zip is over the limit, announced or arrived."""
    return RequestTooLarge(f"The zip is over {limit} bytes; leave out what the function can fetch.")


def _own_digest(headers: Headers) -> str:
    given = headers.get(OWN_DIGEST, "").strip().lower()
    if given and not _SHA256.fullmatch(given):
        raise InvalidSetting("Sless-Content-SHA256 must be 64 hexadecimal digits.")
    return given


def _standard_digest(headers: Headers, *, form: bool) -> str:
    """RFC 9530's sha-256, if there; other algorithms may stand beside it and are left alone."""
    for name in _DIGESTS:
        for entry in headers.get(name, "").split(","):
            match = _ENTRY.fullmatch(entry)
            if match is None:
                continue
            if form:
                raise InvalidSetting(f"{name} would be the form's; send Sless-Content-SHA256.")
            return _decoded(match[1], name)
    return ""


def _decoded(text: str, name: str) -> str:
    try:
        digest = base64.b64decode(text, validate=True)
    except binascii.Error:
        digest = b""
    if len(digest) != 32:  # noqa: PLR2004 - bytes of a SHA-256
        raise InvalidSetting(f"{name} must be sha-256=:<base64 of 32 bytes>:.")
    return digest.hex()
