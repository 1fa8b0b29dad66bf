"""The entries of a zip, as its list describes them: each is checked before it is believed."""

import stat
import struct
import zipfile
from collections.abc import Iterator
from typing import BinaryIO

from sless.archive.directory import Directory, check_directory
from sless.archive.inflate import METHODS, STEP
from sless.archive.limits import ArchiveLimits
from sless.archive.paths import quote
from sless.archive.tree import Kind
from sless.errors import (
    ArchiveCompressionUnsupported,
    ArchiveEncrypted,
    ArchiveSpecialFile,
    ArchiveTruncated,
    ArchiveUnsafePath,
)

_ENCRYPTED = 0x1 | 0x40 | 0x2000
"""APPNOTE 4.4.4: encrypted, strongly encrypted, masked headers."""
_PATCH = 0x20
_UTF8 = 0x800
_DOS_FOLDER = 0x10
_LOCAL = struct.Struct("<4s22xHH")
_LOCAL_SIGNATURE = b"PK\x03\x04"
EXECUTE = 0o111
"""Anybody's right to execute, as the mode carries it."""


def read_entries(file: BinaryIO, limits: ArchiveLimits) -> list[zipfile.ZipInfo]:
    """The zip's list of entries, read once; raises a leaf of `BadArchive`."""
    directory = check_directory(file, limits)
    try:
        entries = zipfile.ZipFile(file).infolist()
    except UnicodeDecodeError as error:
        raise ArchiveUnsafePath(
            f"The zip has a name that is no UTF-8, {error.object[:80]!r}; rename it."
        ) from error
    except NotImplementedError as error:
        raise ArchiveCompressionUnsupported(
            f"The zip is of a later format ({error}); zip the folder with deflate."
        ) from error
    except (zipfile.BadZipFile, ValueError, struct.error) as error:
        raise ArchiveTruncated(
            f"The zip's list of entries is damaged ({error}); zip the folder again."
        ) from error
    _check_apart(entries, directory)
    return entries


def _check_apart(entries: list[zipfile.ZipInfo], directory: Directory) -> None:
    """No two entries may share bytes: that is how 46 MB become 4.5 PB (Fifield's zip bomb)."""
    ordered = sorted(entries, key=lambda entry: entry.header_offset)
    ends = [entry.header_offset for entry in ordered[1:]] + [directory.start]
    for entry, limit in zip(ordered, ends, strict=False):
        start = entry.header_offset
        end = start + _LOCAL.size + len(raw_name(entry)) + entry.compress_size
        if start < 0 or end > limit:
            raise ArchiveTruncated(
                f"Entry {quote(entry.orig_filename)} overlaps what comes after it; zip the folder "
                "again."
            )


def check_readable(entry: zipfile.ZipInfo) -> None:
    """Raises `ArchiveEncrypted` or `ArchiveCompressionUnsupported`."""
    name = quote(entry.orig_filename)
    if entry.flag_bits & _ENCRYPTED:
        raise ArchiveEncrypted(f"Entry {name} is encrypted; zip the folder without a password.")
    if entry.compress_type not in METHODS or entry.flag_bits & _PATCH:
        raise ArchiveCompressionUnsupported(
            f"Entry {name} is compressed by method {entry.compress_type}; use deflate, stored, "
            "bzip2 or LZMA."
        )


def entry_kind(entry: zipfile.ZipInfo, *, name: str, mode: int) -> Kind:
    """What an entry is, by its mode (0 in many zips made on Windows) and its name.

    Raises `ArchiveSpecialFile`, or `ArchiveTruncated` for a folder that has data.
    """
    form = stat.S_IFMT(mode)
    if form not in {0, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK}:
        raise ArchiveSpecialFile(
            f"Entry {quote(name)} is a device, socket or pipe; leave it out of the zip."
        )
    if form == stat.S_IFLNK:
        return Kind.LINK
    folder = form == stat.S_IFDIR or name.endswith(("/", "\\"))
    # Some Windows tools mark a folder by its attribute alone.
    if not folder and not (form == 0 and entry.external_attr & _DOS_FOLDER):
        return Kind.FILE
    if entry.file_size:
        raise ArchiveTruncated(f"Entry {quote(name)} is a folder with data; zip the folder again.")
    return Kind.FOLDER


def raw_name(entry: zipfile.ZipInfo) -> bytes:
    """An entry's name as it stands in the zip's list."""
    return entry.orig_filename.encode("utf-8" if entry.flag_bits & _UTF8 else "cp437")


def entry_name(entry: zipfile.ZipInfo) -> str:
    """An entry's name; macOS and others write UTF-8 without saying so."""
    try:
        return raw_name(entry).decode()
    except UnicodeDecodeError:
        return entry.orig_filename


def read_raw(file: BinaryIO, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """An entry's data as they lie in the zip; its own header must name it too."""
    file.seek(entry.header_offset)
    signature, name_size, extra_size = _LOCAL.unpack(file.read(_LOCAL.size))
    if signature != _LOCAL_SIGNATURE:
        raise EOFError("no entry where the list says")
    if file.read(name_size) != raw_name(entry):
        raise ArchiveTruncated(
            f"Entry {quote(entry.orig_filename)} has another name in its own header; zip the "
            "folder again."
        )
    position = entry.header_offset + _LOCAL.size + name_size + extra_size
    left = entry.compress_size
    while left:
        # Others may have read from the file in between.
        file.seek(position)
        piece = file.read(min(STEP, left))
        if not piece:
            raise EOFError("the zip ends early")
        yield piece
        position += len(piece)
        left -= len(piece)
