"""Zips made on purpose, well or badly, and contexts taken apart, for the tests of archives."""

import io
import stat
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sless.archive import Context, prepare_context

DEFLATED = zipfile.ZIP_DEFLATED


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a zip, as odd as a test wants it."""

    name: str
    data: bytes = b"x"
    mode: int = stat.S_IFREG | 0o644
    method: int = DEFLATED
    system: int = 3
    time: tuple[int, int, int, int, int, int] = (2020, 2, 2, 2, 2, 2)


def link(name: str, target: str) -> Entry:
    return Entry(name, target.encode(), mode=stat.S_IFLNK | 0o777)


def folder(name: str) -> Entry:
    return Entry(f"{name}/", b"", mode=stat.S_IFDIR | 0o755)


def write_zip(path: Path, *entries: Entry, comment: bytes = b"") -> Path:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as out:
        warnings.filterwarnings("ignore", "Duplicate name")
        out.comment = comment
        for entry in entries:
            # The name is set afterwards: the constructor cuts it at a NUL.
            info = zipfile.ZipInfo("x", entry.time)
            info.filename = info.orig_filename = entry.name
            info.external_attr = entry.mode << 16
            info.create_system = entry.system
            info.compress_type = entry.method
            out.writestr(info, entry.data)
    return path


def files_zip(path: Path, files: Mapping[str, bytes | str]) -> Path:
    entries = [
        Entry(name, data.encode() if isinstance(data, str) else data)
        for name, data in files.items()
    ]
    return write_zip(path, *entries)


def patch(path: Path, change: Callable[[bytearray], object]) -> Path:
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)
    return path


def central(data: bytearray, index: int = 0) -> int:
    """Where the entry's record in the zip's list starts."""
    position = -1
    for _ in range(index + 1):
        position = data.index(b"PK\x01\x02", position + 1)
    return position


def set_central(data: bytearray, offset: int, form: str, value: int, *, index: int = 0) -> None:
    """Overwrites a field of the entry's record, at its offset in APPNOTE 4.3.12."""
    struct.pack_into(form, data, central(data, index) + offset, value)


@dataclass(frozen=True, slots=True)
class Opened:
    """A context taken apart."""

    context: Context
    names: list[str]
    modes: dict[str, int]
    links: dict[str, str]
    data: dict[str, bytes]

    @property
    def code(self) -> dict[str, bytes]:
        """The function's own files."""
        return {
            name.removeprefix("code/"): data
            for name, data in self.data.items()
            if name.startswith("code/")
        }

    @property
    def dockerfile(self) -> str:
        return self.data["Dockerfile"].decode()


def open_context(zip_path: Path, runtime: str = "python3.11") -> Opened:
    """Prepares that zip's context beside it and reads it back."""
    out = zip_path.with_suffix(".tar.gz")
    context = prepare_context(zip_path, runtime, out, extra_files={"launch.py": b"pass\n"})
    with tarfile.open(out) as tar:
        members = tar.getmembers()
        return Opened(
            context=context,
            names=[member.name for member in members],
            modes={member.name: member.mode for member in members},
            links={member.name: member.linkname for member in members if member.issym()},
            data={member.name: _read(tar, member) for member in members if member.isreg()},
        )


def _read(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member) or io.BytesIO()
    return file.read()
