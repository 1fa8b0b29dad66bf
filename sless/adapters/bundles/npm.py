"""Resolves and installs a function's Node dependencies with npm."""

from dataclasses import dataclass
from pathlib import Path

from sless.adapters.bundles.installer import Command, Execute, Lock
from sless.adapters.bundles.interpreter import Interpreter
from sless.adapters.bundles.nodes import find_npm
from sless.adapters.bundles.npm_verdict import judge_npm
from sless.dependencies import Dependencies, DependencyKind

MODULES = "node_modules"
"""Where npm installs, and where Node looks for packages."""
_LOCKS = ("npm-shrinkwrap.json", "package-lock.json")
_OPTIONS = ("--omit=dev", "--no-audit", "--no-fund")


@dataclass(frozen=True, slots=True)
class NpmInstaller:
    """npm for one Node.js."""

    interpreter: Interpreter
    execute: Execute

    def resolve(self, dependencies: Dependencies, folder: Path) -> Lock:
        """See the protocol; a function's own lock stands as it is."""
        if dependencies.kind is DependencyKind.NPM_INSTALL:
            self._npm(folder, "install", "--package-lock-only", "--ignore-scripts")
        name = next(name for name in _LOCKS if (folder / name).exists())
        beside = [file.text for file in dependencies.files if file.path not in _LOCKS]
        return Lock((folder / name).read_text(), name, "\n".join(beside))

    def install(self, lock: Lock, *, folder: Path, target: Path) -> None:
        """See the protocol."""
        (folder / lock.file_name).write_text(lock.text)
        self._npm(folder, "ci")
        installed = folder / MODULES
        installed.mkdir(exist_ok=True)  # npm makes none for no packages
        installed.rename(target / MODULES)

    def _npm(self, folder: Path, *arguments: str) -> None:
        npm = find_npm(self.interpreter.path)
        finished = self.execute(Command((*npm, *arguments, *_OPTIONS), folder))
        if finished.code != 0:
            raise judge_npm(finished)
