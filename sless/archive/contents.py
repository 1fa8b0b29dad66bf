"""What a function's files say about it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sless.archive.limits import DEFAULT_LIMITS, ArchiveLimits
from sless.archive.paths import quote
from sless.archive.reader import ZipReader
from sless.archive.tree import Kind
from sless.dependencies import Dependencies, Language, find_dependencies
from sless.errors import DependencyFileInvalid

PROCFILE = "Procfile"
_WEB = re.compile(rb"^web[ \t]*:[ \t]*\S", re.MULTILINE)
_SECRETS = re.compile(r"\.env(\.(?!example$|sample$|template$|dist$).+)?")
_WARNINGS = 3
"""Files named one by one: warnings travel in payloads of bounded size."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What was seen in a function's folder."""

    dependencies: Dependencies
    web: bool
    """Whether a Procfile has a `web` line."""
    files: int
    """Files and links."""
    warnings: tuple[str, ...] = ()
    """Sentences for whoever deploys; nothing was refused for them."""

    @property
    def dependency_files(self) -> tuple[str, ...]:
        """The paths of what is installed from."""
        return self.dependencies.paths


class ZipFiles(Mapping[str, bytes]):
    """The files of an opened zip by path, read when asked for; links are followed."""

    def __init__(self, reader: ZipReader, limits: ArchiveLimits = DEFAULT_LIMITS) -> None:
        self._reader = reader
        self._limits = limits

    def __getitem__(self, path: str) -> bytes:
        node = self._reader.tree.find_file(path)
        if node is None:
            raise KeyError(path)
        _check_size(path, node.size, self._limits)
        return self._reader.read(node)

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._reader.tree.find_file(path) is not None

    def __iter__(self) -> Iterator[str]:
        return (node.path for node in self._reader.tree if node.kind is Kind.FILE)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class FolderFiles(Mapping[str, bytes]):
    """The files of a folder on disk by path, read when asked for; none outside is reached."""

    def __init__(self, folder: Path, limits: ArchiveLimits = DEFAULT_LIMITS) -> None:
        self._folder = folder.resolve()
        self._limits = limits

    def _find(self, path: object) -> Path | None:
        if not isinstance(path, str):
            return None
        try:
            found = (self._folder / path).resolve()
            return found if found.is_relative_to(self._folder) and found.is_file() else None
        except OSError:  # A name that is too long is no file's.
            return None

    def __getitem__(self, path: str) -> bytes:
        found = self._find(path)
        if found is None:
            raise KeyError(path)
        _check_size(path, found.stat().st_size, self._limits)
        return found.read_bytes()

    def __contains__(self, path: object) -> bool:
        return self._find(path) is not None

    def __iter__(self) -> Iterator[str]:
        paths = (path.relative_to(self._folder) for path in self._folder.rglob("*"))
        return (path.as_posix() for path in paths if path.as_posix() in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _check_size(path: str, size: int, limits: ArchiveLimits) -> None:
    if size > limits.dependency_file_bytes:
        raise DependencyFileInvalid(
            f"{path} has {size:,} bytes, more than {limits.dependency_file_bytes:,}; it can hardly "
            "be meant to declare dependencies."
        )


def find_contents(files: Mapping[str, bytes], paths: Iterable[str], language: Language) -> Contents:
    """What those files say; `paths` names them all, links included.

    Raises `DependencyFileInvalid` or `DependencyUnsupported`.
    """
    named = list(paths)
    dependencies = find_dependencies(files, language)
    return Contents(
        dependencies=dependencies,
        web=_WEB.search(files.get(PROCFILE, b"")) is not None,
        files=len(named),
        warnings=(*dependencies.warnings, *warn_of(named)),
    )


def warn_of(paths: Iterable[str]) -> Iterator[str]:
    """Sentences for files that are better not shipped; a few, however many such files there are."""
    found = [path for path in paths if _SECRETS.fullmatch(path.rsplit("/", maxsplit=1)[-1])]
    for path in found[:_WARNINGS]:
        yield (
            f"{quote(path)} is shipped with the code; leave it out by a line in .slessignore, and "
            "pass secrets as settings."
        )
    if len(found) > _WARNINGS:
        yield f"{len(found) - _WARNINGS} more files like {quote(found[-1])} are shipped."
