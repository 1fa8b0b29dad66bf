"""One zip, parsed once: its checked tree, and each file's data as it is inflated."""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from sless.archive.entries import (
    EXECUTE,
    check_readable,
    entry_kind,
    entry_name,
    read_entries,
    read_raw,
)
from sless.archive.inflate import DAMAGED, DictionaryTooLargeError, inflate
from sless.archive.limits import DEFAULT_LIMITS, ArchiveLimits
from sless.archive.links import TARGET_BYTES
from sless.archive.paths import parse_path, quote
from sless.archive.tree import Kind, Node, make_tree
from sless.errors import (
    ArchiveCompressionUnsupported,
    ArchiveTooLarge,
    ArchiveTruncated,
    ArchiveUnsafeLink,
    ArchiveUnsafePath,
)


class ZipReader:
    """A zip whose list of entries was checked; the data are checked as they are read.

    Everything raises a leaf of `BadArchive`; use it as a context manager.
    """

    def __init__(self, path: Path, limits: ArchiveLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._file = path.open("rb")
        try:
            self._entries = read_entries(self._file, limits)
            nodes = (self._make_node(origin) for origin in range(len(self._entries)))
            self.tree = make_tree((node for node in nodes if node.path), limits)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def chunks(self, node: Node) -> Iterator[bytes]:
        """A file's data, exactly `node.size` bytes of the announced checksum."""
        return self._inflate(self._entries[node.origin])

    def read(self, node: Node) -> bytes:
        """A file's data in one piece; the caller bounds `node.size`."""
        return b"".join(self.chunks(node))

    def check_data(self) -> None:
        """Inflates every file, to see that it is what its header claims."""
        for node in self.tree:
            if node.kind is Kind.FILE:
                for _ in self.chunks(node):
                    pass

    def _make_node(self, origin: int) -> Node:
        entry = self._entries[origin]
        check_readable(entry)
        name = entry_name(entry)
        mode = entry.external_attr >> 16
        kind = entry_kind(entry, name=name, mode=mode)
        path = parse_path(name, self._limits)
        if not path and kind is not Kind.FOLDER:
            raise ArchiveUnsafePath(f"Entry {quote(name)} is a file without a name; rename it.")
        return Node(
            path=path,
            kind=kind,
            origin=origin,
            executable=kind is Kind.FILE and bool(mode & EXECUTE),
            size=entry.file_size,
            target=self._read_target(entry) if kind is Kind.LINK else "",
        )

    def _read_target(self, entry: zipfile.ZipInfo) -> str:
        name = quote(entry.orig_filename)
        if entry.file_size > TARGET_BYTES:
            raise ArchiveUnsafeLink(
                f"Link {name} has a target of over {TARGET_BYTES} bytes; replace the link by what "
                "it should name."
            )
        try:
            return b"".join(self._inflate(entry)).decode()
        except UnicodeDecodeError as error:
            raise ArchiveUnsafeLink(
                f"Link {name} has a target that is no UTF-8; rename what it names."
            ) from error

    def _inflate(self, entry: zipfile.ZipInfo) -> Iterator[bytes]:
        name, size, checksum = quote(entry.orig_filename), 0, 0
        try:
            for piece in self._inflate_unchecked(entry):
                size += len(piece)
                if size > entry.file_size:
                    raise ArchiveTooLarge(
                        f"Entry {name} inflates to more than the {entry.file_size:,} bytes its "
                        "header claims; zip the folder again."
                    )
                checksum = zlib.crc32(piece, checksum)
                yield piece
        except DAMAGED as error:
            raise ArchiveTruncated(f"Entry {name} is damaged; zip the folder again.") from error
        except DictionaryTooLargeError as error:
            raise ArchiveCompressionUnsupported(
                f"Entry {name} needs an LZMA dictionary of over "
                f"{self._limits.lzma_dictionary_bytes:,} bytes; compress it with deflate."
            ) from error
        if (size, checksum) != (entry.file_size, entry.CRC):
            raise ArchiveTruncated(
                f"Entry {name} does not match its size or checksum; zip the folder again."
            )

    def _inflate_unchecked(self, entry: zipfile.ZipInfo) -> Iterator[bytes]:
        return inflate(
            read_raw(self._file, entry),
            entry.compress_type,
            dictionary_limit=self._limits.lzma_dictionary_bytes,
        )
