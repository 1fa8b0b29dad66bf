"""What of a folder is not uploaded."""

from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from sless.errors import ArchiveUnreadable

IGNORE_FILE = ".slessignore"
FALLBACK_FILE = ".gitignore"
_NEVER = frozenset({".git", ".hg", ".svn", ".DS_Store", "__MACOSX", IGNORE_FILE})
"""Names that are left out whatever an ignore file says."""
_DEFAULTS = (
    "__pycache__/",
    "*.py[co]",
    ".mypy_cache/",
    ".ruff_cache/",
    ".pytest_cache/",
    ".hypothesis/",
    ".tox/",
    ".nox/",
    ".ipynb_checkpoints/",
    ".terraform/",
)
"""Caches; a line such as `!__pycache__/` brings one back."""
_VENV_MARK = "pyvenv.cfg"
_NODE_MODULES = "node_modules"
_NODE_PACKAGE = "package.json"


@dataclass(frozen=True, slots=True)
class Ignore:
    """The rules for one folder."""

    spec: GitIgnoreSpec

    def leaves_out(self, path: str, *, folder: Path | None = None) -> bool:
        """Whether a path is left out; `folder` is where it lies, if it is a folder."""
        if path.rsplit("/", maxsplit=1)[-1] in _NEVER:
            return True
        if folder and (_is_virtual_environment(folder) or _is_installed_again(path, folder)):
            return True
        return self.spec.match_file(f"{path}/" if folder else path)


def _is_virtual_environment(folder: Path) -> bool:
    return (folder / _VENV_MARK).is_file()


def _is_installed_again(path: str, folder: Path) -> bool:
    """What npm installs at build: only from the package.json at the top."""
    return path == _NODE_MODULES and (folder.parent / _NODE_PACKAGE).is_file()


def read_ignore(folder: Path) -> Ignore:
    """The rules of that folder's `.slessignore`, or else of its `.gitignore`.

    Both have git's syntax. Raises `ArchiveUnreadable` when the file cannot be read.
    """
    name = next((one for one in (IGNORE_FILE, FALLBACK_FILE) if (folder / one).is_file()), None)
    if name is None:
        return Ignore(GitIgnoreSpec.from_lines(_DEFAULTS))
    try:
        lines = (folder / name).read_text("utf-8-sig").splitlines()
        return Ignore(GitIgnoreSpec.from_lines([*_DEFAULTS, *lines]))
    except (OSError, ValueError) as error:
        raise ArchiveUnreadable(f"{name} cannot be read ({error}); correct it.") from error
