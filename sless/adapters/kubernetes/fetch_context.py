"""A build pod's first container: fetches the context and unpacks it.

Runs as `python3 -I -c <this text>` in any image that has Python 3.9 or newer: so it imports nothing
of ours. Told by environment: URL (presigned), SHA256, FOLDER (made), SETTINGS (written to
SETTINGS_FILE), USER_NAMESPACE (`required`, or empty). A failure is told as one JSON object,
`{"reason", "message"}`, in the termination log. No message has the URL.
"""

import hashlib
import http.client
import json
import os
import ssl
import sys
import tarfile
import urllib.error
import urllib.request
from pathlib import Path

TIMEOUT_SECONDS = 20.0
"""For each read."""
CHUNK_BYTES = 1024 * 1024
EVERY_ID = 4294967295
"""The length of the only range in the map of the machine's own user namespace."""
EXPIRED = 403


class Failure(Exception):
    """Ends the program; both parts are for the build's status."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def check_user_namespace(uid_map: str) -> None:
    """Refuses to be root of the machine: what builds after this would be, too."""
    if uid_map.split() == ["0", "0", str(EVERY_ID)]:
        raise Failure(
            "UserNamespacesUnsupported",
            "The cluster started the build's pod without a user namespace of its own although "
            "its Job asks for one (hostUsers: false): use nodes that support user namespaces, or "
            "set SLESS_BUILDER__USER_NAMESPACES=false to go without.",
        )


def download(url: str, path: Path) -> str:
    """Writes what the URL has to `path`; its sha256."""
    digest = hashlib.sha256()
    try:
        with (
            urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS, context=trust()) as response,  # noqa: S310 - the platform's own URL
            path.open("wb") as file,
        ):
            while chunk := response.read(CHUNK_BYTES):
                file.write(chunk)
                digest.update(chunk)
    except urllib.error.HTTPError as error:
        if error.code == EXPIRED:
            raise Failure("BuildLost", "The URL of the build context has expired.") from None
        raise Failure("StorageUnavailable", f"S3 answers {error.code} for the context.") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        why = getattr(error, "reason", None) or type(error).__name__
        raise Failure("StorageUnavailable", f"S3 does not give the build context: {why}.") from None
    return digest.hexdigest()


def trust() -> ssl.SSLContext:
    """The image's certificates, and the platform's besides."""
    context = ssl.create_default_context()
    bundle = os.environ.get("CA_FILE")
    if bundle:
        context.load_verify_locations(bundle)
    return context


def unpack(packed: Path, folder: Path) -> None:
    """The archive was made by the platform; the filter is the second lock on that door."""
    with tarfile.open(packed, "r:gz") as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)  # noqa: S202 - see above


def fetch(told: "os._Environ[str]") -> None:
    """All of it; raises `Failure`."""
    if told["USER_NAMESPACE"]:
        check_user_namespace(Path("/proc/self/uid_map").read_text(encoding="ascii"))
    settings, folder = Path(told["SETTINGS_FILE"]), Path(told["FOLDER"])
    settings.write_text(told["SETTINGS"], encoding="utf-8")
    packed = folder.with_suffix(".tar.gz")
    found = download(told["URL"], packed)
    if found != told["SHA256"]:
        raise Failure("StorageUnavailable", "The context arrived with other bytes than stored.")
    size = packed.stat().st_size
    folder.mkdir()
    unpack(packed, folder)
    packed.unlink()
    print(f"Fetched the build context, {size:,} bytes.", flush=True)  # noqa: T201 - the build's log


def main() -> None:
    """Runs it; the exit code is 1 for a `Failure`."""
    try:
        fetch(os.environ)
    except Failure as error:
        print(error, flush=True)  # noqa: T201 - the build's log
        told = json.dumps({"reason": error.reason, "message": str(error)})
        Path(os.environ.get("TERMINATION_LOG", "/dev/termination-log")).write_text(
            told, encoding="utf-8"
        )
        sys.exit(1)


if __name__ == "__main__":
    main()
