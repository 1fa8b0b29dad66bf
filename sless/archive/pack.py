"""A folder as a deterministic zip: an unchanged folder is an unchanged upload."""

import hashlib
import shutil
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path

from sless.archive.contents import warn_of
from sless.archive.folder import scan_folder
from sless.archive.limits import DEFAULT_LIMITS, ArchiveLimits
from sless.archive.reader import ZipReader
from sless.archive.tarball import EXECUTABLE_MODE, FILE_MODE, FOLDER_MODE
from sless.archive.tree import Kind, Node, Tree
from sless.errors import ArchiveTooLarge, ArchiveUnreadable
from sless.files import replacing

_UNIX = 3
"""APPNOTE 4.4.2: the entries carry Unix modes."""
_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest a zip can hold."""
_DOS_FOLDER = 0x10
_TOP = "function/"
"""Put around a folder that has one folder and nothing else: the top folder is stripped."""


@dataclass(frozen=True, slots=True)
class PackResult:
    """A zip that can be uploaded."""

    path: Path
    sha256: str
    size: int
    """Bytes."""
    files: int
    """Files and links."""
    warnings: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    """Paths left out, a `/` behind folders."""


def pack(source: Path, out_path: Path, *, limits: ArchiveLimits = DEFAULT_LIMITS) -> PackResult:
    """What to upload for a folder or a zip: a folder is packed, a zip is checked and taken as is.

    Raises a leaf of `BadArchive`.
    """
    if source.is_file():
        return _take_zip(source, limits)
    return pack_folder(source, out_path, limits=limits)


def pack_folder(
    folder: Path, out_path: Path, *, limits: ArchiveLimits = DEFAULT_LIMITS
) -> PackResult:
    """Writes the folder's zip to `out_path`; order, times and modes depend on nothing else.

    Execute bits and links within the folder are kept. Raises a leaf of `BadArchive`; then nothing
    is left at `out_path`.
    """
    scan = scan_folder(folder, limits)
    prefix = _TOP if _has_single_top(scan.tree) else ""
    try:
        with replacing(out_path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
            for node in _entries(scan.tree):
                _write(out, node, folder=folder, prefix=prefix)
    except OSError as error:
        raise ArchiveUnreadable(
            f"{str(error.filename)!r} cannot be read or written ({error.strerror}); change "
            "its rights or leave it out by a line in .slessignore."
        ) from error
    _check_packed(out_path, limits)
    return _describe(out_path, scan.tree, skipped=scan.skipped)


def _take_zip(path: Path, limits: ArchiveLimits) -> PackResult:
    with ZipReader(path, limits) as reader:
        reader.check_data()
        return _describe(path, reader.tree)


def _describe(path: Path, tree: Tree, *, skipped: tuple[str, ...] = ()) -> PackResult:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    paths = [node.path for node in tree if node.kind is not Kind.FOLDER]
    return PackResult(
        path=path,
        sha256=sha256,
        size=path.stat().st_size,
        files=len(paths),
        warnings=tuple(warn_of(paths)),
        skipped=skipped,
    )


def _has_single_top(tree: Tree) -> bool:
    tops = [node for node in tree if "/" not in node.path]
    return len(tops) == 1 and tops[0].kind is Kind.FOLDER


def _entries(tree: Tree) -> list[Node]:
    """Files, links, and the folders that are empty: the others follow from their files."""
    used = {node.path.rpartition("/")[0] for node in tree}
    return [node for node in tree if node.kind is not Kind.FOLDER or node.path not in used]


def _write(out: zipfile.ZipFile, node: Node, *, folder: Path, prefix: str) -> None:
    info = zipfile.ZipInfo(f"{prefix}{node.path}", _TIME)
    info.create_system = _UNIX
    info.compress_type = zipfile.ZIP_DEFLATED
    match node.kind:
        case Kind.FOLDER:
            info.filename += "/"
            info.external_attr = (stat.S_IFDIR | FOLDER_MODE) << 16 | _DOS_FOLDER
            out.writestr(info, b"")
        case Kind.LINK:
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            out.writestr(info, node.target)
        case Kind.FILE:
            mode = EXECUTABLE_MODE if node.executable else FILE_MODE
            info.external_attr = (stat.S_IFREG | mode) << 16
            with (folder / node.path).open("rb") as source, out.open(info, "w") as target:
                shutil.copyfileobj(source, target)


def _check_packed(path: Path, limits: ArchiveLimits) -> None:
    size = path.stat().st_size
    if size > limits.packed_bytes:
        path.unlink()
        raise ArchiveTooLarge(
            f"The zip has {size:,} bytes, more than {limits.packed_bytes:,}; leave out what the "
            "function does not need by lines in .slessignore."
        )
