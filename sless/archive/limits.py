"""How much a zip may hold."""

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """What is refused for its size; every bound is inclusive."""

    entries: int = 20_000
    """Entries in the zip: a function with its own node_modules stays far below."""
    inflated_bytes: int = 512 * MIB
    """Of all entries together, counted while inflating."""
    packed_bytes: int = 512 * MIB
    """The zip itself: stored entries are as large packed as inflated."""
    directory_bytes: int = 16 * MIB
    """The zip's list of entries, which has to be held in memory: 800 bytes for each of 20 000."""
    name_bytes: int = 255
    """One file's or folder's name, in UTF-8: Linux' NAME_MAX."""
    path_bytes: int = 1_024
    """A whole path, in UTF-8: a quarter of Linux' PATH_MAX leaves room for where it is put."""
    lzma_dictionary_bytes: int = 64 * MIB
    """What inflating one LZMA entry may take: its own header chooses, up to 4 GiB."""
    dependency_file_bytes: int = 16 * MIB
    """One requirements.txt, package.json or lock, read as a whole."""


DEFAULT_LIMITS = ArchiveLimits()
