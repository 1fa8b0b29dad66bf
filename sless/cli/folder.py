"""What a folder or zip says about the function in it: its name and language."""

import re
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from sless.cli.exits import Exit, Stop
from sless.dependencies import Language
from sless.naming import NAME_MAX

_PYTHON_FILES = {"requirements.txt", "pyproject.toml", "uv.lock", "pylock.toml"}
_NODE_FILES = {"package.json"}
_NODE_ENDINGS = {".js", ".mjs", ".cjs"}
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    UnicodeDecodeError,
    ValueError,
)
"""What zipfile raises for damaged or encrypted zips."""
_TEXT_BYTES = 1024 * 1024
"""A file that says which versions it wants is far smaller."""


def name_for(path: Path) -> str:
    """A function's name from the folder's or zip's; raises `Stop` where nothing is left of it."""
    base = path.resolve().stem if path.is_file() else path.resolve().name
    name = re.sub(r"[^a-z0-9]+", "-", base.lower()).strip("-")[:NAME_MAX].rstrip("-")
    if not name:
        raise Stop(f"{base!r} gives no name for a function: choose one with --name.", Exit.USAGE)
    return name


def guess_language(files: Iterable[str]) -> Language | None:
    """The language that top-level files tell of; none when they tell of two, or of none."""
    names = set(files)
    endings = {Path(name).suffix for name in names}
    # What declares dependencies tells more than what merely lies there.
    python, node = bool(names & _PYTHON_FILES), bool(names & _NODE_FILES)
    if not python and not node:
        python, node = ".py" in endings, bool(endings & _NODE_ENDINGS)
    if python == node:
        return None
    return Language.PYTHON if python else Language.NODE


def top_files(path: Path) -> list[str]:
    """The names at the top of a folder or zip, one single folder around all of them removed."""
    if path.is_dir():
        return sorted(child.name for child in path.iterdir())
    try:
        with zipfile.ZipFile(path) as archive:
            names = _unwrapped(archive.namelist())
    except _UNREADABLE:
        return []  # The server says what is wrong with it.
    return sorted({name.partition("/")[0] for name in names})


def read_top(path: Path, name: str) -> str | None:
    """The text of a file at the top of a folder or zip, or none where there is none to be read."""
    try:
        content = (path / name).read_bytes() if path.is_dir() else _read_zipped(path, name)
        return None if content is None else content.decode("utf-8-sig")
    except (OSError, *_UNREADABLE):
        return None  # What packs or builds it says what is wrong with it.


def _read_zipped(path: Path, name: str) -> bytes | None:
    with zipfile.ZipFile(path) as archive:
        entry = _unwrapped(archive.namelist()).get(name)
        if entry is None or archive.getinfo(entry).file_size > _TEXT_BYTES:
            return None
        with archive.open(entry) as file:
            return file.read(_TEXT_BYTES)


def _unwrapped(names: Iterable[str]) -> dict[str, str]:
    """The entries of a zip by their names without the one folder around all of them."""
    entries = {name: name for name in names}
    while len({name.partition("/")[0] for name in entries}) == 1:
        if not any("/" in name for name in entries):
            break
        entries = {
            rest: entry for name, entry in entries.items() if (rest := name.partition("/")[2])
        }
    return entries


def check_path(path: Path) -> None:
    """Raises `Stop` for what can be no function."""
    if not path.exists():
        raise Stop(f"There is no {str(path)!r}: name a folder or a zip.", Exit.USAGE)
    if path.is_dir():
        return
    if not path.is_file() or path.suffix.lower() != ".zip":
        raise Stop(
            f"{str(path)!r} is neither a folder nor a .zip: name the handler's folder.",
            Exit.USAGE,
        )
