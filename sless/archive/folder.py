"""A folder on disk as a checked tree, without what is not to be uploaded."""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from sless.archive.ignore import Ignore, read_ignore
from sless.archive.limits import ArchiveLimits
from sless.archive.paths import parse_path, quote
from sless.archive.tree import Kind, Node, Tree, make_tree
from sless.errors import (
    ArchiveSpecialFile,
    ArchiveTooManyEntries,
    ArchiveUnreadable,
    ArchiveUnsafeLink,
    ArchiveUnsafePath,
)

_EXECUTE = 0o111


@dataclass(frozen=True, slots=True)
class Scan:
    """What was found in a folder."""

    tree: Tree
    skipped: tuple[str, ...]
    """Paths left out, a `/` behind folders."""


@dataclass(slots=True)
class _Scanner:
    """Collects while it descends."""

    root: Path
    ignore: Ignore
    limits: ArchiveLimits
    nodes: list[Node] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def descend(self, folder: Path, prefix: str) -> None:
        """Adds what lies in that folder; `prefix` is its path with a slash, or empty."""
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            path = f"{prefix}{entry.name}"
            is_folder = entry.is_dir(follow_symlinks=False)
            if self.ignore.leaves_out(path, folder=Path(entry.path) if is_folder else None):
                self.skipped.append(f"{path}/" if is_folder else path)
                continue
            self._add(entry, path)
            if is_folder:
                self.descend(Path(entry.path), f"{path}/")

    def _add(self, entry: "os.DirEntry[str]", path: str) -> None:
        if len(self.nodes) >= self.limits.entries:
            raise ArchiveTooManyEntries(
                f"The folder has more than {self.limits.entries:,} files and folders; leave out "
                "what the function does not need by lines in .slessignore."
            )
        _check_name(path, self.limits)
        self.nodes.append(_make_node(entry, path))


def scan_folder(folder: Path, limits: ArchiveLimits) -> Scan:
    """The folder's tree; raises a leaf of `BadArchive`."""
    if not folder.is_dir():
        raise ArchiveUnreadable(f"There is no folder {quote(str(folder))}; check the path.")
    scanner = _Scanner(folder, read_ignore(folder), limits)
    try:
        scanner.descend(folder, "")
    except OSError as error:
        raise ArchiveUnreadable(
            f"{quote(str(error.filename))} cannot be read ({error.strerror}); change its rights or "
            "leave it out by a line in .slessignore."
        ) from error
    return Scan(make_tree(scanner.nodes, limits, strip=False), tuple(scanner.skipped))


def _check_name(path: str, limits: ArchiveLimits) -> None:
    if not _is_utf8(path):
        raise ArchiveUnsafePath(f"{quote(path)} has a name that is no UTF-8; rename it.")
    if parse_path(path, limits) != path:
        raise ArchiveUnsafePath(f"{quote(path)} has a backslash in its name; rename it.")


def _make_node(entry: "os.DirEntry[str]", path: str) -> Node:
    if entry.is_symlink():
        return Node(path, Kind.LINK, target=_read_target(entry, path))
    status = entry.stat(follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        return Node(path, Kind.FOLDER)
    if not stat.S_ISREG(status.st_mode):
        raise ArchiveSpecialFile(
            f"{quote(path)} is a device, socket or pipe; leave it out by a line in .slessignore."
        )
    executable = bool(status.st_mode & _EXECUTE)
    return Node(path, Kind.FILE, executable=executable, size=status.st_size)


def _read_target(entry: "os.DirEntry[str]", path: str) -> str:
    target = str(Path(entry.path).readlink())
    if not _is_utf8(target):
        raise ArchiveUnsafeLink(
            f"Link {quote(path)} has a target that is no UTF-8; rename what it names."
        )
    return target


def _is_utf8(name: str) -> bool:
    """Whether a name from the file system is text; Python keeps other bytes as surrogates."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)
