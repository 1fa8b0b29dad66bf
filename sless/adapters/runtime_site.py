"""The packages that the function runtime runs on, as this installation of ours has them.

They are pure Python, or fall back to it, so one copy serves every interpreter, and no index has to
be asked for them. They lie in a folder apart: a function sees none of them.
"""

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath

LAUNCHER_PACKAGES = ("click", "h11", "uvicorn", "websockets")
"""What requirements/function.in resolves to."""
_LEFT_OUT = frozenset({"__pycache__", ".."})
"""Compiled files, and programs outside of the package folder."""

_MACHINE_CODE = frozenset({".so", ".pyd"})


def launcher_version() -> str:
    """Equal for installations of ours that have the same packages."""
    versions = [f"{name}=={distribution(name).version}" for name in LAUNCHER_PACKAGES]
    return hashlib.sha256(" ".join(versions).encode()).hexdigest()[:32]


def copy_launcher_site(target: Path) -> None:
    """Copies the packages into an empty folder, without compiled files."""
    for name in LAUNCHER_PACKAGES:
        for source, path in _files(name):
            place = target / path
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, place)


def read_launcher_site() -> Mapping[str, bytes]:
    """Likewise in memory, for an image of any platform: no code of one machine is among them."""
    files = {
        path.as_posix(): source.read_bytes()
        for name in LAUNCHER_PACKAGES
        for source, path in _files(name)
        if path.suffix not in _MACHINE_CODE
    }
    return dict(sorted(files.items()))


def _files(name: str) -> Iterator[tuple[Path, PurePosixPath]]:
    for file in distribution(name).files or ():
        # What the installer notes about the installation differs from machine to machine.
        is_note = file.parent.name.endswith(".dist-info") and file.name != "METADATA"
        if not is_note and not _LEFT_OUT & set(file.parts):
            yield Path(str(file.locate())), file
