"""A tar.gz that depends on nothing but what is put in: no times, owners or orders of ours."""

import gzip
import hashlib
import tarfile
from collections.abc import Iterable
from types import TracebackType
from typing import BinaryIO, Self

EPOCH = 315_532_800
"""Seconds: 1980-01-01, the earliest time a zip can hold, so that files can be zipped again."""
FILE_MODE = 0o644
EXECUTABLE_MODE = 0o755
FOLDER_MODE = 0o755
_LEVEL = 1
"""A context is read once or twice: level 6 takes three times as long and saves a tenth."""


class _Hashed:
    """A file that knows the sha256 and the number of the bytes written to it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        self.sha256.update(data)
        self.size += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()


class Tarball:
    """A tar.gz being written; entries lie in it in the order they are added."""

    def __init__(self, file: BinaryIO) -> None:
        self._hashed = _Hashed(file)
        # A fixed time and no name: both would stand in gzip's header.
        self._gzip = gzip.GzipFile(
            filename="",
            mode="wb",
            compresslevel=_LEVEL,
            fileobj=self._hashed,
            mtime=0,
        )
        self.entries = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._gzip.close()

    @property
    def sha256(self) -> str:
        """Of the tar.gz, once closed."""
        return self._hashed.sha256.hexdigest()

    @property
    def size(self) -> int:
        """Of the tar.gz in bytes, once closed."""
        return self._hashed.size

    def add_file(
        self, path: str, data: Iterable[bytes], *, size: int, executable: bool = False
    ) -> None:
        """A file; `data` must yield exactly `size` bytes."""
        mode = EXECUTABLE_MODE if executable else FILE_MODE
        self._add_header(path, tarfile.REGTYPE, mode=mode, size=size)
        for piece in data:
            self._gzip.write(piece)
        self._gzip.write(bytes(-size % tarfile.BLOCKSIZE))

    def add_folder(self, path: str) -> None:
        """A folder."""
        self._add_header(path, tarfile.DIRTYPE, mode=FOLDER_MODE)

    def add_link(self, path: str, target: str) -> None:
        """A symbolic link."""
        self._add_header(path, tarfile.SYMTYPE, mode=0o777, target=target)

    def finish(self) -> None:
        """Writes tar's end; call it once, after the last entry."""
        self._gzip.write(bytes(2 * tarfile.BLOCKSIZE))

    def _add_header(
        self, path: str, kind: bytes, *, mode: int, size: int = 0, target: str = ""
    ) -> None:
        info = tarfile.TarInfo(path)
        info.type, info.mode, info.size, info.linkname = kind, mode, size, target
        info.mtime = EPOCH
        self._gzip.write(info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict"))
        self.entries += 1
