"""The Node runtime in place of Python's, for the tests of this folder."""

import shutil
import subprocess
from pathlib import Path

import pytest

from sless.adapters.bundles.nodes import find_npm
from sless.dependencies import Language
from tests.component.runtime.conftest import lay_out_runtime

OLDEST = 20
PACKAGES = ("express@5", "koa@3", "fastify@5", "hono@4")


@pytest.fixture(scope="session")
def node() -> Path:
    """Node.js, or a failure that says what to install."""
    found = shutil.which("node")
    if found is None:
        pytest.fail("These tests run functions with Node.js, which is not on the PATH: install it.")
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    if int(told.removeprefix("v").partition(".")[0]) < OLDEST:
        pytest.fail(f"These tests need Node.js {OLDEST} or newer; {found} is {told.strip()}.")
    return Path(found)


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory, node: Path) -> tuple[str, ...]:
    entry = lay_out_runtime(Language.NODE, tmp_path_factory.mktemp("node-runtime"))
    return (str(node), str(entry))


@pytest.fixture(scope="session")
def runtime_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Empty: the Node runtime needs no packages."""
    return tmp_path_factory.mktemp("no-site")


@pytest.fixture(scope="session")
def modules(tmp_path_factory: pytest.TempPathFactory, node: Path) -> Path:
    """A node_modules with the frameworks that people use."""
    folder = tmp_path_factory.mktemp("npm")
    (folder / "package.json").write_text("{}")
    command = [*find_npm(node), "install", "--no-audit", "--no-fund", "--silent", *PACKAGES]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "node_modules"
