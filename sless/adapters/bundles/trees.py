"""Folders kept by the key of their content, and the temporary ones they are made in.

Kept trees lose their write permissions, which keeps an honest function from changing what others
share. It is no wall: functions and builds run as the user who ran `sless up`, who may give the
permission back. Tenants who do not trust each other need the Kubernetes home.
"""

import contextlib
import ctypes
import errno
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class Trees:
    """A folder of trees; `root` and everything below is on one file system."""

    def __init__(self, root: Path) -> None:
        self._kept = root / "trees"
        self._temporary = root / "temporary"
        for folder in (self._kept, self._temporary):
            folder.mkdir(parents=True, exist_ok=True)

    def path(self, key: str) -> Path:
        """Where the tree of that key lies, if it is there."""
        return self._kept / key

    def has(self, key: str) -> bool:
        """Whether it is there, whole."""
        return self.path(key).is_dir()

    @contextlib.contextmanager
    def temporary(self) -> Iterator[Path]:
        """An empty folder, gone afterwards unless `keep` took it."""
        folder = Path(tempfile.mkdtemp(dir=self._temporary))
        try:
            yield folder
        finally:
            remove_tree(folder)

    def keep(self, folder: Path, key: str) -> None:
        """Moves a folder to its key; if another was faster, theirs stays."""
        protect_tree(folder)
        _flush(folder)
        folder.chmod(0o755)  # a folder is moved by changing its `..`
        try:
            folder.rename(self.path(key))
        except OSError as error:
            if error.errno not in {errno.EEXIST, errno.ENOTEMPTY}:
                raise
            return
        self.path(key).chmod(0o555)

    def sweep(self) -> None:
        """Removes what a crash left behind; nothing may be in the making."""
        for folder in self._temporary.iterdir():
            remove_tree(folder)


def _flush(folder: Path) -> None:
    """Has the disk hold all of it before its name says that it is whole, even after a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # One call for the file system: one per file takes seconds for thousands of them.
        if _LIBC.syncfs(descriptor) != 0:
            raise OSError(ctypes.get_errno(), "syncfs failed", str(folder))
    finally:
        os.close(descriptor)


def tree_key(root: Path, *, kind: str) -> str:
    """`<kind>-<hex>`, equal for trees of equal names, contents, links and execute bits."""
    digest = hashlib.sha256()
    for path in sorted(_walk(root)):
        name = path.relative_to(root).as_posix().encode("utf-8", "surrogateescape")
        digest.update(b"%d %b %b\n" % (len(name), name, _content(path)))
    return f"{kind}-{digest.hexdigest()[:32]}"


def _content(path: Path) -> bytes:
    if path.is_symlink():
        return b"link " + hashlib.sha256(os.fsencode(path.readlink())).digest()
    if path.is_dir():
        return b"folder"
    executable = path.stat().st_mode & stat.S_IXUSR
    return (b"program " if executable else b"file ") + _hash_file(path)


def _hash_file(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def protect_tree(root: Path) -> None:
    """Takes the write permissions of everything below `root`, and of itself."""
    for path in [*_walk(root), root]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~_WRITE)


def remove_tree(root: Path) -> None:
    """Removes a tree, protected or not; none there is no error."""
    if not root.exists():
        return
    for folder, names, _ in os.walk(root):
        for path in (Path(folder), *(Path(folder, name) for name in names)):
            if not path.is_symlink():
                path.chmod(stat.S_IRWXU)
    shutil.rmtree(root, ignore_errors=True)


def _walk(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            yield Path(folder, name)
