"""An upload on its way: a temporary file that is hashed and counted while it is written."""

import asyncio
import errno
import hashlib
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from api.announced import too_large
from sless.errors import ArchiveNotZip, DiskFull

PREFIX = "upload-"
BUFFER_BYTES = 1024 * 1024
"""Written at once, off the event loop: few enough switches of thread for 1 GB/s."""
LEFTOVER_SECONDS = 3600
"""No upload is idle for so long: older files are those of a killed process."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclass(frozen=True, slots=True)
class Spooled:
    """A zip that arrived whole."""

    path: Path
    sha256: str
    size: int


@dataclass(slots=True)
class Spool:
    """Takes bytes in order; no more than `limit` of them."""

    path: Path
    file: BinaryIO
    limit: int
    size: int = 0
    _hash: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    _buffer: bytearray = field(default_factory=bytearray)

    def take(self, data: bytes) -> None:
        """Keeps bytes in memory until `flush`; raises `RequestTooLarge`."""
        self.size += len(data)
        if self.size > self.limit:
            raise too_large(self.limit)
        self._buffer += data

    async def relieve(self) -> None:
        """Writes what was taken, once that is much; raises `DiskFull`."""
        if len(self._buffer) >= BUFFER_BYTES:
            await self._write()

    async def finish(self) -> Spooled:
        """Writes the rest; raises `DiskFull`, or `ArchiveNotZip` when nothing came."""
        if not self.size:
            raise ArchiveNotZip("The body is empty: send the zip as the body of the request.")
        await self._write()
        return Spooled(self.path, self._hash.hexdigest(), self.size)

    async def _write(self) -> None:
        data, self._buffer = self._buffer, bytearray()
        await asyncio.to_thread(self._absorb, data)

    def _absorb(self, data: bytearray) -> None:
        done = 0
        with room(), memoryview(data) as view:
            while done < len(view):
                # A disk that is nearly full takes a part and says so by the count alone.
                done += self.file.write(view[done:])
        self._hash.update(data)


@asynccontextmanager
async def spooling(folder: Path, *, limit: int) -> AsyncIterator[Spool]:
    """A spool whose file is gone at the end, however it ends; raises `DiskFull`."""
    path, file = await asyncio.to_thread(_open, folder)
    try:
        yield Spool(path, file, limit)
    finally:
        # Unlinking is quick, and must happen even while the task is being cancelled.
        file.close()
        path.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Deletes what killed processes left behind."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    oldest = time.time() - LEFTOVER_SECONDS
    for path in folder.glob(f"{PREFIX}*"):
        if path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)


def _open(folder: Path) -> tuple[Path, BinaryIO]:
    with room():
        handle, name = tempfile.mkstemp(dir=folder, prefix=PREFIX, suffix=".zip")
    # Unbuffered, so that closing a file on a full disk has nothing left to fail at.
    return Path(name), os.fdopen(handle, "wb", buffering=0)


@contextmanager
def room() -> Iterator[None]:
    """A full disk as an error of ours."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise DiskFull("The server's disk has no room for the upload; free some space.") from error
