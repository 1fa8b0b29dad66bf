"""A look at a zip's list of entries before anybody reads it into memory.

`zipfile` reads the whole list at once, however long it says it is, and believes the end record.
This walks it first, record by record, in constant memory. Source: PKWARE's APPNOTE 6.3, 4.3.
"""

import os
import struct
from dataclasses import dataclass
from typing import BinaryIO

from sless.archive.limits import ArchiveLimits
from sless.errors import (
    ArchiveNotZip,
    ArchiveTooLarge,
    ArchiveTooManyEntries,
    ArchiveTruncated,
)

_END = struct.Struct("<4s4H2LH")
_END_SIGNATURE = b"PK\x05\x06"
_COMMENT_MAX = 0xFFFF
_LOCATOR = struct.Struct("<4sLQL")
_LOCATOR_SIGNATURE = b"PK\x06\x07"
_END64 = struct.Struct("<4sQ2H2L4Q")
_END64_SIGNATURE = b"PK\x06\x06"
_RECORD = struct.Struct("<4s24xHHH12x")
_RECORD_SIGNATURE = b"PK\x01\x02"
_LOCAL_SIGNATURE = b"PK\x03\x04"
_SAME_AGAIN = "zip the folder again"


@dataclass(frozen=True, slots=True)
class Directory:
    """Where the list of entries lies, in bytes from the file's start, and how long it is."""

    start: int
    size: int
    entries: int


def check_directory(file: BinaryIO, limits: ArchiveLimits) -> Directory:
    """The zip's list of entries, within the limits and consistent with its end record.

    Raises `ArchiveNotZip`, `ArchiveTruncated`, `ArchiveTooLarge` or `ArchiveTooManyEntries`.
    """
    length = file.seek(0, os.SEEK_END)
    if length > limits.packed_bytes:
        raise ArchiveTooLarge(
            f"The zip has {length:,} bytes, more than {limits.packed_bytes:,}; leave out what the "
            "function does not need."
        )
    end = _find_end(file, length)
    directory = _read_end(file, end)
    _check_claims(directory, limits)
    _walk(file, directory, limits)
    return directory


def _find_end(file: BinaryIO, length: int) -> int:
    """Where the end record starts; it must be the last thing in the file."""
    start = max(length - _END.size - _COMMENT_MAX, 0)
    file.seek(start)
    tail = file.read()
    found = tail.rfind(_END_SIGNATURE)
    if found < 0:
        raise _no_end(file)
    record = tail[found:]
    if len(record) < _END.size:
        raise ArchiveTruncated(f"The zip ends within its last record; {_SAME_AGAIN}.")
    beyond = len(record) - _END.size - int(_END.unpack_from(record)[7])
    if beyond < 0:
        raise ArchiveTruncated(f"The zip ends {-beyond} bytes early; {_SAME_AGAIN}.")
    if beyond > 0:
        raise ArchiveTruncated(
            f"The zip has {beyond} bytes after its end; it was damaged or something was appended, "
            f"so {_SAME_AGAIN}."
        )
    return start + found


def _no_end(file: BinaryIO) -> ArchiveNotZip | ArchiveTruncated:
    file.seek(0)
    head = file.read(4)
    if head == _LOCAL_SIGNATURE:
        return ArchiveTruncated(f"The zip ends before its list of entries; {_SAME_AGAIN}.")
    if not head:
        return ArchiveNotZip("The file is empty; send a zip of the function's folder.")
    return ArchiveNotZip("The file is no zip; send a zip of the function's folder.")


def _read_end(file: BinaryIO, end: int) -> Directory:
    file.seek(end)
    _, disk, first_disk, here, entries, size, offset, _ = _END.unpack(file.read(_END.size))
    before = end
    end64 = _find_end64(file, end)
    if end64 is not None:
        before = end64
        file.seek(end64)
        _, _, _, _, disk, first_disk, here, entries, size, offset = _END64.unpack(
            file.read(_END64.size)
        )
    if disk or first_disk or here != entries:
        raise ArchiveTruncated("The zip is one part of several; send it in one piece.")
    # Bytes before the zip, as in a self-extracting one, shift every offset alike.
    start = before - size
    if start < offset:
        raise ArchiveTruncated(f"The zip's end record points outside of it; {_SAME_AGAIN}.")
    return Directory(start=start, size=size, entries=entries)


def _find_end64(file: BinaryIO, end: int) -> int | None:
    """Where the zip64 end record starts, if there is one."""
    locator = end - _LOCATOR.size
    if locator < 0:
        return None
    file.seek(locator)
    if file.read(4) != _LOCATOR_SIGNATURE:
        return None
    start = locator - _END64.size
    file.seek(max(start, 0))
    if start < 0 or file.read(4) != _END64_SIGNATURE:
        raise ArchiveTruncated(f"The zip's zip64 records contradict each other; {_SAME_AGAIN}.")
    return start


def _check_claims(directory: Directory, limits: ArchiveLimits) -> None:
    if directory.entries > limits.entries:
        raise _too_many(limits)
    if directory.size > limits.directory_bytes:
        raise ArchiveTooLarge(
            f"The zip's list of entries takes {directory.size:,} bytes, more than "
            f"{limits.directory_bytes:,}; zip the folder without comments and extra fields."
        )


def _walk(file: BinaryIO, directory: Directory, limits: ArchiveLimits) -> None:
    """Raises `ArchiveTruncated` unless exactly the announced records fill the list."""
    position, count = directory.start, 0
    end = directory.start + directory.size
    while position < end:
        file.seek(position)
        record = file.read(_RECORD.size)
        if len(record) < _RECORD.size or not record.startswith(_RECORD_SIGNATURE):
            break
        count += 1
        if count > limits.entries:
            raise _too_many(limits)
        position += _RECORD.size + sum(_RECORD.unpack(record)[1:])
    if position != end or count != directory.entries:
        raise ArchiveTruncated(f"The zip's list of entries is damaged; {_SAME_AGAIN}.")


def _too_many(limits: ArchiveLimits) -> ArchiveTooManyEntries:
    return ArchiveTooManyEntries(
        f"The zip has more than {limits.entries:,} entries; leave out what the function does not "
        "need."
    )
