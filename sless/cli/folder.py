"""What a folder or zip says about the function in it: its name and runtime."""

import re
import zipfile
from collections.abc import Iterable
from pathlib import Path

from sless.cli.exits import Exit, Stop
from sless.naming import NAME_MAX

PYTHON = "python3.11"
NODE = "node20"
_PYTHON_FILES = {"requirements.txt", "pyproject.toml", "uv.lock", "pylock.toml"}
_NODE_FILES = {"package.json"}
_NODE_ENDINGS = {".js", ".mjs", ".cjs"}


def name_for(path: Path) -> str:
    """A function's name from the folder's or zip's; raises `Stop` where nothing is left of it."""
    base = path.resolve().stem if path.is_file() else path.resolve().name
    name = re.sub(r"[^a-z0-9]+", "-", base.lower()).strip("-")[:NAME_MAX].rstrip("-")
    if not name:
        raise Stop(f"{base!r} gives no name for a function: choose one with --name.", Exit.USAGE)
    return name


def guess_runtime(files: Iterable[str]) -> str | None:
    """The runtime that top-level files tell of; none when they tell of two, or of none."""
    names = set(files)
    endings = {Path(name).suffix for name in names}
    # What declares dependencies tells more than what merely lies there.
    python, node = bool(names & _PYTHON_FILES), bool(names & _NODE_FILES)
    if not python and not node:
        python, node = ".py" in endings, bool(endings & _NODE_ENDINGS)
    if python == node:
        return None
    return PYTHON if python else NODE


def top_files(path: Path) -> list[str]:
    """The names at the top of a folder or zip, one single folder around all of them removed."""
    if path.is_dir():
        return sorted(child.name for child in path.iterdir())
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, ValueError):
        return []  # The server says what is wrong with it.
    while names and len({name.partition("/")[0] for name in names}) == 1:
        if not any("/" in name for name in names):
            break
        names = [rest for name in names if (rest := name.partition("/")[2])]
    return sorted({name.partition("/")[0] for name in names})


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
