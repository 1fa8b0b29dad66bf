"""Fetches a build context by its presigned URL and unpacks it."""

import hashlib
import ipaddress
import tarfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from sless.errors import BuildLost, StorageUnavailable

_TIMEOUT_SECONDS = 20.0
"""For each read: S3 on the same machine answers in milliseconds, a busy one in seconds."""
_FORBIDDEN = 403


def fetch_context(
    url: str, *, sha256: str, folder: Path, say: Callable[[str], None], check: Callable[[], None]
) -> None:
    """Unpacks the context into `folder`, which must be empty.

    `check` is called at every chunk, and may raise. Raises `StorageUnavailable`, or `BuildLost`
    when the URL has expired. No message has the URL.
    """
    packed = folder.with_suffix(".tar.gz")
    found, size = _download(url, packed, check)
    if found != sha256:
        raise StorageUnavailable("The build context arrived with other bytes than were stored.")
    say(f"Fetched the build context, {size:,} bytes.")
    with tarfile.open(packed, "r:gz") as archive:
        # Made and checked by the platform; the filter is the second lock on that door. Python knows
        # it as an argument since 3.11.4 only, and does without it when it is an attribute.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)  # noqa: S202 - see above
    packed.unlink()


def _download(url: str, path: Path, check: Callable[[], None]) -> tuple[str, int]:
    """The file's sha256 and size."""
    digest, size = hashlib.sha256(), 0
    try:
        with (
            httpx.Client(timeout=_TIMEOUT_SECONDS, trust_env=not _is_here(url)) as client,
            client.stream("GET", url) as response,
            path.open("wb") as file,
        ):
            _check_status(response.status_code)
            for chunk in response.iter_bytes():
                check()
                file.write(chunk)
                digest.update(chunk)
                size += len(chunk)
    except httpx.HTTPError as error:
        kind = type(error).__name__
        raise StorageUnavailable(f"S3 does not give the build context ({kind}).") from error
    return digest.hexdigest(), size


def _check_status(status: int) -> None:
    if status == _FORBIDDEN:
        raise BuildLost("The address of the build context has expired before the build began.")
    if status != httpx.codes.OK:
        raise StorageUnavailable(f"S3 answered {status} for the build context.")


def _is_here(url: str) -> bool:
    """Whether a proxy would be the wrong way there."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
