"""From the name an entry carries to a checked path below the function's folder."""

import re
import unicodedata

from sless.archive.limits import ArchiveLimits
from sless.errors import ArchiveNameTooLong, ArchiveUnsafePath

_DRIVE = re.compile(r"[A-Za-z]:")
_LITTER_FOLDER = "__MACOSX"
_LITTER_FILE = ".DS_Store"


def quote(name: str) -> str:
    """A name for a message: quoted, control characters escaped, at most 80 characters of it."""
    return repr(name if len(name) <= 80 else f"{name[:77]}...")  # noqa: PLR2004 - said above


def parse_path(name: str, limits: ArchiveLimits) -> str:
    r"""The path that an entry's name means, with `/` between its parts and none at its ends.

    `\` counts as `/`, as some Windows tools write it; `.` and empty parts go. The result is empty
    for the top folder itself. Raises `ArchiveUnsafePath` or `ArchiveNameTooLong`.
    """
    slashed = name.replace("\\", "/")
    _check_safe(slashed, name)
    parts = [part for part in slashed.split("/") if part not in {"", "."}]
    path = "/".join(parts)
    _check_length(parts, path=path, limits=limits)
    return path


def _check_safe(slashed: str, name: str) -> None:
    if "\0" in slashed:
        raise ArchiveUnsafePath(f"Entry {quote(name)} has a NUL in its name; rename it.")
    if slashed.startswith("/"):
        raise ArchiveUnsafePath(
            f"Entry {quote(name)} has an absolute path; zip the folder's content with paths "
            "relative to it."
        )
    if _DRIVE.match(slashed):
        raise ArchiveUnsafePath(
            f"Entry {quote(name)} names a drive; zip the folder's content with paths relative to "
            "it."
        )
    if ".." in slashed.split("/"):
        raise ArchiveUnsafePath(
            f"Entry {quote(name)} climbs out of its folder by '..'; zip the folder's content with "
            "paths relative to it."
        )


def _check_length(parts: list[str], *, path: str, limits: ArchiveLimits) -> None:
    for part in parts:
        if len(part.encode()) > limits.name_bytes:
            raise ArchiveNameTooLong(
                f"Entry {quote(path)} has a name of over {limits.name_bytes} bytes; shorten it."
            )
    if len(path.encode()) > limits.path_bytes:
        raise ArchiveNameTooLong(
            f"Entry {quote(path)} has a path of over {limits.path_bytes} bytes; nest it less deep."
        )


def is_litter(path: str) -> bool:
    """Whether a path is what macOS adds on its own: `__MACOSX` at the top, or a `.DS_Store`."""
    parts = path.split("/")
    return parts[0] == _LITTER_FOLDER or parts[-1] == _LITTER_FILE


def collision_key(path: str) -> str:
    """What two paths share when a laptop's file system takes them for one.

    Such file systems ignore case, and macOS also the ways to compose a letter with its accent.
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def parents(path: str) -> list[str]:
    """The folders that hold a path, the nearest first, the top not among them."""
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(len(parts) - 1, 0, -1)]
