"""Resolves and installs a function's dependencies; for Python with uv."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from uv import find_uv_bin

from sless.adapters.bundles.hashes import keep_hashes
from sless.adapters.bundles.interpreter import Interpreter
from sless.adapters.bundles.verdict import Finished, judge_install
from sless.dependencies import Dependencies, DependencyKind

_LOCK = "sless-lock.txt"
_PYLOCK = "pylock.toml"
_INPUTS = {
    DependencyKind.REQUIREMENTS: "requirements.txt",
    DependencyKind.PYPROJECT: "pyproject.toml",
    DependencyKind.PYLOCK: _PYLOCK,
    DependencyKind.UV_LOCK: "uv.lock",
}
_OPTIONS_KEPT = ("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--no-binary",
                 "--only-binary", "--trusted-host")  # fmt: skip
"""Lines of a requirements.txt that say where packages come from, which a lock does not repeat."""
_PLAIN = ("--no-header", "--no-annotate")


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run, with the installer's environment."""

    arguments: tuple[str, ...]
    folder: Path
    """Where it runs."""


Execute = Callable[[Command], Finished]
"""Runs a command to its end, with whatever it started, and writes its output to the build's log."""


@dataclass(frozen=True, slots=True)
class Lock:
    """Resolved dependencies: the same text installs the same packages."""

    text: str
    file_name: str = _LOCK
    """By its name an installer knows its form."""
    beside: str = ""
    """The texts of other files that the installer reads, if any."""

    def key(self, interpreter: Interpreter) -> str:
        """What its installed tree is kept under, for this interpreter and platform."""
        content = f"{interpreter.platform}\n{self.file_name}\n{self.text}{self.beside}"
        return f"dependencies-{hashlib.sha256(content.encode()).hexdigest()[:32]}"


class Installer(Protocol):
    """What installs the packages of one language."""

    def resolve(self, dependencies: Dependencies, folder: Path) -> Lock:
        """The lock of those dependencies, whose files are in `folder` and nothing else.

        Raises `DependencyInstallFailed`, `IndexUnavailable`, `DiskFull` or `OutOfMemory`.
        """

    def install(self, lock: Lock, *, folder: Path, target: Path) -> None:
        """Installs a lock into `target`; raises as `resolve` does."""


@dataclass(frozen=True, slots=True)
class UvInstaller:
    """uv for one interpreter."""

    interpreter: Interpreter
    execute: Execute

    def resolve(self, dependencies: Dependencies, folder: Path) -> Lock:
        """See the protocol."""
        match dependencies.kind:
            case DependencyKind.PYLOCK:
                return Lock((folder / _PYLOCK).read_text(), _PYLOCK)
            case DependencyKind.UV_LOCK:
                options = ("export", "--locked", "--no-emit-project", "--no-default-groups")
            case kind:
                options = ("pip", "compile", "--generate-hashes", _INPUTS[kind])
        path = folder / _LOCK
        self._uv(folder, *options, *_PLAIN, "--output-file", path.name, "--quiet")
        text = keep_hashes(path.read_text(), [file.text for file in dependencies.files])
        return Lock("".join([*_kept_options(dependencies), text]))

    def install(self, lock: Lock, *, folder: Path, target: Path) -> None:
        """See the protocol."""
        (folder / lock.file_name).write_text(lock.text)
        options = ("--target", str(target), "--no-deps", "--compile-bytecode")
        preview = ("--preview-features", "pylock") if lock.file_name == _PYLOCK else ()
        self._uv(folder, "pip", "install", *options, *preview, "-r", lock.file_name)

    def _uv(self, folder: Path, *arguments: str) -> None:
        python = ("--python", str(self.interpreter.path))
        finished = self.execute(Command((find_uv_bin(), *arguments, *python), folder))
        if finished.code != 0:
            raise judge_install(finished)


def lay_out(dependencies: Dependencies, folder: Path) -> None:
    """Lays out the files that say what to install; the function's code is not among them."""
    for file in dependencies.files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text)


def _kept_options(dependencies: Dependencies) -> list[str]:
    if dependencies.kind is not DependencyKind.REQUIREMENTS:
        return []
    lines = [line.strip() for file in dependencies.files for line in file.text.splitlines()]
    return [f"{line}\n" for line in lines if line.startswith(_OPTIONS_KEPT)]
