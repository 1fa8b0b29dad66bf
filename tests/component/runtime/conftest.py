"""The runtime as a build would lay it out, and functions started from files or folders."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest
import uv

from sless.dependencies import Language
from sless.runtime import ENTRIES, runtime_files
from tests.component.runtime.function_process import Ended, FunctionProcess, write_files

ROOT = Path(__file__).parents[3]


class Prepare(Protocol):
    """Makes a process that is not started yet."""

    def __call__(
        self,
        files: Mapping[str, str] | Path,
        *,
        site: Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> FunctionProcess: ...


Install = Callable[..., Path]


@pytest.fixture(scope="session")
def install(tmp_path_factory: pytest.TempPathFactory) -> Install:
    """Installs requirements into a folder of their own, as the builder does."""

    def install_(*arguments: str) -> Path:
        site = tmp_path_factory.mktemp("site")
        command = [uv.find_uv_bin(), "pip", "install", "--quiet", "--target", str(site)]
        subprocess.run([*command, *arguments], check=True)
        return site

    return install_


@pytest.fixture(scope="session")
def runtime_site(install: Install) -> Path:
    return install("-r", str(ROOT / "requirements" / "function.txt"))


def lay_out_runtime(language: Language, folder: Path) -> Path:
    """Writes a runtime's files below that folder, and returns the one to start."""
    for name, content in runtime_files(language).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder / ENTRIES[language]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """What starts a function."""
    entry = lay_out_runtime(Language.PYTHON, tmp_path_factory.mktemp("runtime"))
    return (sys.executable, str(entry))


@pytest.fixture(scope="module")
def prepare(
    tmp_path_factory: pytest.TempPathFactory, program: tuple[str, ...], runtime_site: Path
) -> Prepare:
    def prepare_(
        files: Mapping[str, str] | Path,
        *,
        site: Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> FunctionProcess:
        folder = tmp_path_factory.mktemp("function")
        code = folder / "code"
        if isinstance(files, Path):
            shutil.copytree(files, code, symlinks=True)
        else:
            write_files(code, files)
        return FunctionProcess(
            folder=folder,
            program=program,
            runtime_site=runtime_site,
            code=code,
            site=site,
            environ=environ or {},
        )

    return prepare_


@pytest.fixture(scope="module")
def run(prepare: Prepare) -> Iterator[Prepare]:
    """Starts a function, waits until it is ready, and ends it after the module's tests."""
    with ExitStack() as stack:

        def run_(
            files: Mapping[str, str] | Path,
            *,
            site: Path | None = None,
            environ: Mapping[str, str] | None = None,
        ) -> FunctionProcess:
            return stack.enter_context(prepare(files, site=site, environ=environ))

        yield run_


@pytest.fixture(scope="module")
def fail(prepare: Prepare) -> Callable[..., Ended]:
    """Starts a function that must not come up."""

    def fail_(
        files: Mapping[str, str] | Path,
        *,
        site: Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Ended:
        process = prepare(files, site=site, environ=environ)
        process.start()
        return process.wait()

    return fail_
