"""Files that are there whole or not at all, for their owner alone."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO


@contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[BinaryIO]:
    """A file that takes its place only when it was written whole; `durable`: and is on disk."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=_draft_prefix(path))
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            _flush(file, durable=durable)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_atomically(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Writes beside the path and renames into place; `durable`: on disk before it returns."""
    with replacing(path, durable=durable) as file:
        file.write(content)


def write_once(path: Path, content: bytes) -> bool:
    """Writes a file, on disk before it returns, or leaves the one that is there; whether it wrote.

    Of two writers at once one is the first.
    """
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=_draft_prefix(path)) as draft:
        draft.write(content)
        _flush(draft.file, durable=True)
        try:
            os.link(draft.name, path)
        except FileExistsError:
            return False
    return True


def remove_drafts(path: Path) -> None:
    """Removes what killed writers of that path left beside it; nobody may be writing."""
    for draft in path.parent.glob(f"{_draft_prefix(path)}*"):
        draft.unlink(missing_ok=True)


def _draft_prefix(path: Path) -> str:
    return f".{path.name}-"


def _flush(file: IO[bytes], *, durable: bool) -> None:
    file.flush()
    if durable:
        os.fsync(file.fileno())
