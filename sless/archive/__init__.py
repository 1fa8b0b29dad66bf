"""Hostile zips in, deterministic build contexts out; and deterministic zips for the CLI."""

from sless.archive.contents import Contents, FolderFiles, ZipFiles, find_contents
from sless.archive.context import Context, check_zip, prepare_context
from sless.archive.dockerfile import render_dockerfile
from sless.archive.limits import DEFAULT_LIMITS, ArchiveLimits
from sless.archive.pack import PackResult, pack, pack_folder
from sless.archive.runtimes import DEFAULT_RUNTIMES, Runtime, get_runtime, runtimes_by_name

__all__ = [
    "DEFAULT_LIMITS",
    "DEFAULT_RUNTIMES",
    "ArchiveLimits",
    "Contents",
    "Context",
    "FolderFiles",
    "PackResult",
    "Runtime",
    "ZipFiles",
    "check_zip",
    "find_contents",
    "get_runtime",
    "pack",
    "pack_folder",
    "prepare_context",
    "render_dockerfile",
    "runtimes_by_name",
]
