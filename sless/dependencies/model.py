"""What a function depends on, as its files declare it."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum


class Language(StrEnum):
    """Whose packages are installed."""

    PYTHON = "python"
    NODE = "node"


class DependencyKind(StrEnum):
    """How they are declared, which decides how they are installed."""

    NONE = "none"
    REQUIREMENTS = "requirements"
    PYLOCK = "pylock"
    UV_LOCK = "uv_lock"
    PYPROJECT = "pyproject"
    NPM_CI = "npm_ci"
    NPM_INSTALL = "npm_install"


@dataclass(frozen=True, slots=True)
class DependencyFile:
    """One file the installer reads."""

    path: str
    """Below the function's folder."""
    text: str
    """Lines end in LF; no BOM."""


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What to install, and from which files."""

    kind: DependencyKind = DependencyKind.NONE
    files: tuple[DependencyFile, ...] = ()
    """Sorted by path; the files that they include are among them. They suffice to install."""
    warnings: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Of the files."""
        return tuple(file.path for file in self.files)

    @property
    def sha256(self) -> str:
        """Of kind and files: equal for functions that want the same installed."""
        digest = hashlib.sha256(self.kind.encode())
        for file in self.files:
            for part in (file.path, file.text):
                data = part.encode()
                digest.update(f"\n{len(data)}\n".encode() + data)
        return digest.hexdigest()


NO_DEPENDENCIES = Dependencies()


def make_dependencies(
    kind: DependencyKind, texts: dict[str, str], *, warnings: tuple[str, ...] = ()
) -> Dependencies:
    """Dependencies of files given as text by path."""
    files = tuple(DependencyFile(path, texts[path]) for path in sorted(texts))
    return Dependencies(kind=kind, files=files, warnings=warnings)
