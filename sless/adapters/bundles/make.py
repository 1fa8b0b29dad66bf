"""Makes a bundle of a build context: keeps its trees, installing only what is not there yet."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sless.adapters.bundles.bundle import Bundle
from sless.adapters.bundles.installer import (
    Command,
    Execute,
    Installer,
    Lock,
    UvInstaller,
    lay_out,
)
from sless.adapters.bundles.interpreter import Interpreter
from sless.adapters.bundles.npm import MODULES, NpmInstaller
from sless.adapters.bundles.resolutions import Resolutions, Wish
from sless.adapters.bundles.trees import Trees, tree_key
from sless.adapters.runtime_site import copy_launcher_site, launcher_version
from sless.archive import FolderFiles
from sless.dependencies import Dependencies, DependencyKind, Language, find_dependencies
from sless.model.function import FunctionRef

CODE = "code"
LAUNCHER = "runtime"
"""Folders of a build context."""


@dataclass(frozen=True, slots=True)
class BundleOrder:
    """What is to be made."""

    function: FunctionRef
    runtime: str
    rebuild: int
    interpreter: Interpreter
    context: Path
    """The unpacked build context."""


class BundleMaker:
    """Makes bundles whose trees lie in `trees`.

    Args:
        trees: Where they are kept.
        resolutions: What unpinned requirements resolved to.
        execute: Runs the installer.
        say: Takes a line of the build's log, without its end.
    """

    def __init__(
        self,
        *,
        trees: Trees,
        resolutions: Resolutions,
        execute: Execute,
        say: Callable[[str], None],
    ) -> None:
        self._trees = trees
        self._resolutions = resolutions
        self._execute = execute
        self._say = say

    def make(self, order: BundleOrder) -> Bundle:
        """The bundle of a context, its trees kept.

        Raises `DependencyFileInvalid`, `DependencyUnsupported` or whatever `execute` and
        `Installer` raise.
        """
        code, interpreter = order.context / CODE, order.interpreter
        dependencies = find_dependencies(FolderFiles(code), interpreter.language)
        for warning in dependencies.warnings:
            self._say(f"warning: {warning}")
        installed = self._dependencies(order, dependencies)
        if installed and interpreter.language is Language.NODE:
            self._link_modules(code, installed)
        return Bundle(
            runtime=order.runtime,
            code=self._keep(code, interpreter, kind="code"),
            launcher=self._keep(order.context / LAUNCHER, interpreter, kind="launcher"),
            launcher_site=self._launcher_site(interpreter),
            dependencies=installed,
        )

    def _dependencies(self, order: BundleOrder, dependencies: Dependencies) -> str:
        if dependencies.kind is DependencyKind.NONE:
            self._say("The function declares no dependencies.")
            return ""
        names = ", ".join(dependencies.paths)
        wish = Wish(order.function, dependencies.sha256, order.interpreter.platform, order.rebuild)
        installer = _make_installer(order.interpreter, self._execute)
        lock = self._resolutions.find(wish)
        with self._trees.temporary() as folder:
            lay_out(dependencies, folder)
            if lock is None:
                self._say(f"Resolving {names}.")
                lock = installer.resolve(dependencies, folder)
                self._resolutions.remember(wish, lock)
            key = lock.key(order.interpreter)
            self._install(installer, lock, folder=folder, key=key)
        return key

    def _install(self, installer: Installer, lock: Lock, *, folder: Path, key: str) -> None:
        if self._trees.has(key):
            self._say("Nothing to install: these very packages are there already.")
            return
        self._say("Installing.")
        with self._trees.temporary() as target:
            installer.install(lock, folder=folder, target=target)
            self._trees.keep(target, key)
        self._say("Installed.")

    def _link_modules(self, code: Path, installed: str) -> None:
        """Has Node find the packages: it looks beside each file, and nowhere else for modules.

        The link is a part of the code's tree, so each dependency tree gives the code another key.
        """
        modules = code / MODULES
        if modules.exists() or modules.is_symlink():
            self._say(f"warning: {MODULES} was shipped, but package.json decides; left aside.")
            _remove(modules)
        modules.symlink_to(Path("..", installed, MODULES))

    def _launcher_site(self, interpreter: Interpreter) -> str:
        if interpreter.language is not Language.PYTHON:
            return ""
        key = f"launcher-site-{interpreter.platform}-{launcher_version()}"
        if not self._trees.has(key):
            with self._trees.temporary() as folder:
                copy_launcher_site(folder)
                self._compile(folder, interpreter)
                self._trees.keep(folder, key)
        return key

    def _keep(self, folder: Path, interpreter: Interpreter, *, kind: str) -> str:
        """Keeps a copy with its modules compiled: a function may start from it many times."""
        key = tree_key(folder, kind=f"{kind}-{interpreter.platform}")
        if not self._trees.has(key):
            with self._trees.temporary() as copy:
                shutil.copytree(folder, copy, symlinks=True, dirs_exist_ok=True)
                self._compile(copy, interpreter)
                self._trees.keep(copy, key)
        return key

    def _compile(self, folder: Path, interpreter: Interpreter) -> None:
        if interpreter.language is not Language.PYTHON:
            return
        # Whether it compiles is told when the function starts. Hashes, since times do not last.
        options = ("-qq", "-j", "1", "--invalidation-mode", "unchecked-hash", ".")
        program = str(interpreter.path)
        self._execute(Command((program, "-I", "-m", "compileall", *options), folder))


def _make_installer(interpreter: Interpreter, execute: Execute) -> Installer:
    match interpreter.language:
        case Language.PYTHON:
            return UvInstaller(interpreter, execute)
        case Language.NODE:
            return NpmInstaller(interpreter, execute)


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    else:
        shutil.rmtree(path)
