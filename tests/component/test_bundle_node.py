"""Bundles made with the real npm from a registry of our own: what Node finds, and what fails."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sless.adapters.bundles.bundle import Bundle
from sless.adapters.bundles.installer import Command
from sless.adapters.bundles.interpreter import Interpreter
from sless.adapters.bundles.interpreters import find_interpreter
from sless.adapters.bundles.make import BundleMaker, BundleOrder
from sless.adapters.bundles.npm_environment import render_npm_environment
from sless.adapters.bundles.resolutions import Resolutions
from sless.adapters.bundles.trees import Trees
from sless.adapters.bundles.verdict import Finished
from sless.errors import DependencyInstallFailed, IndexUnavailable
from sless.model.function import FunctionRef
from tests.component.contexts import silence
from tests.component.npm_registry import Registry, publishing

pytestmark = pytest.mark.real

RUNTIME = "node20"
ESM_AND_CJS = """
import greet, { version } from "greet";
import { createRequire } from "node:module";
const required = createRequire(import.meta.url)("greet");
console.log(JSON.stringify([greet(), required(), version, (await import("part")).default]));
"""


@dataclass
class Workshop:
    """Makes bundles in a folder, and counts what npm is asked to do."""

    folder: Path
    registry: str
    interpreter: Interpreter
    npm: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @property
    def trees(self) -> Trees:
        return Trees(self.folder / "images")

    def make(self, files: Mapping[str, str], *, name: str = "f", rebuild: int = 0) -> Bundle:
        with self.trees.temporary() as context:
            for path, text in {"runtime/launch.mjs": "", **_below("code", files)}.items():
                (context / path).parent.mkdir(parents=True, exist_ok=True)
                (context / path).write_text(text)
            order = BundleOrder(
                FunctionRef("team", name), RUNTIME, rebuild, self.interpreter, context
            )
            return BundleMaker(
                trees=self.trees,
                resolutions=Resolutions(self.folder / "resolutions"),
                execute=self.execute,
                say=self.said.append,
            ).make(order)

    def run(self, bundle: Bundle, *arguments: str) -> str:
        """What a program says that Node starts in the function's folder."""
        code = self.trees.path(bundle.code)
        command = [str(self.interpreter.path), *arguments]
        return subprocess.run(command, cwd=code, capture_output=True, text=True, check=True).stdout

    def execute(self, command: Command) -> Finished:
        self.npm.append(next(word for word in command.arguments if word in {"ci", "install"}))
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        environ = render_npm_environment(
            {"PATH": os.environ["PATH"], "npm_config_fetch_retries": "0"},
            home=home,
            cache=self.folder / "cache",
            registry=self.registry,
            node=self.interpreter.path,
        )
        done = subprocess.run(
            command.arguments,
            cwd=command.folder,
            env={**environ, "npm_config_fetch_timeout": "2000"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Finished(done.returncode, done.stdout)


def _below(folder: str, files: Mapping[str, str]) -> dict[str, str]:
    return {f"{folder}/{path}": text for path, text in files.items()}


def wanting(**dependencies: str) -> str:
    return json.dumps({"dependencies": dependencies})


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with publishing(tmp_path_factory.mktemp("registry")) as made:
        for version in ("1.0.0", "2.0.0"):
            made.publish(
                "part", {"index.js": f"module.exports = 'part {version}'"}, version=version
            )
        made.publish(
            "greet",
            {
                "index.js": "module.exports = () => 'greet ' + require('part');",
                "index.mjs": (
                    "import part from 'part';\n"
                    "export default () => 'esm greet ' + part; export const version = 1;"
                ),
                "cli.js": "#!/usr/bin/env node\nconsole.log('cli ' + require('part'))",
            },
            dependencies={"part": "1"},
            exports={".": {"import": "./index.mjs", "require": "./index.js"}},
            bin={"greet": "cli.js"},
        )
        failing = "console.error('npm error code E503');throw new Error('no compiler')"
        made.publish("failing", {"build.js": failing}, scripts={"install": "node build.js"})
        made.publish(
            "built",
            {"build.js": "require('fs').writeFileSync('index.js', 'module.exports = 1')"},
            scripts={"postinstall": "node build.js"},
        )
        yield made


@pytest.fixture
def workshop(tmp_path: Path, registry: Registry) -> Workshop:
    return Workshop(tmp_path, registry.url, find_interpreter(RUNTIME, configured={}))


def lock_of(workshop: Workshop, package: str) -> str:
    """The package-lock.json that npm makes of it."""
    folder = workshop.folder / "lock"
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text(package)
    npm = ("npm", "install", "--package-lock-only")
    done = workshop.execute(Command(npm, folder))
    assert done.code == 0, done.output
    workshop.npm.clear()
    return (folder / "package-lock.json").read_text()


def test_node_finds_packages_by_import_and_require(workshop: Workshop) -> None:
    """Also a package's own version of what the function has in another version."""
    files = {"main.mjs": ESM_AND_CJS, "package.json": wanting(greet="1", part="2")}
    bundle = workshop.make({**files, "deep/er/main.mjs": ESM_AND_CJS})
    told = ["esm greet part 1.0.0", "greet part 1.0.0", 1, "part 2.0.0"]
    assert json.loads(workshop.run(bundle, "main.mjs")) == told
    assert json.loads(workshop.run(bundle, "deep/er/main.mjs")) == told
    assert workshop.run(bundle, "node_modules/.bin/greet") == "cli part 1.0.0\n"
    assert workshop.npm == ["install", "ci"]


def test_a_locks_very_packages_are_installed(workshop: Workshop) -> None:
    package = wanting(part="1 || 2")
    lock = lock_of(workshop, wanting(part="1")).replace('"part": "1"', '"part": "1 || 2"')
    for name in ("package-lock.json", "npm-shrinkwrap.json"):
        bundle = workshop.make({"package.json": package, name: lock})
        assert workshop.run(bundle, "-p", "require('part')") == "part 1.0.0\n"
    assert workshop.npm == ["ci", "ci"]


def test_only_what_production_needs_is_installed(workshop: Workshop) -> None:
    package = json.dumps({"dependencies": {"part": "1"}, "devDependencies": {"greet": "1"}})
    for lock in ({}, {"package-lock.json": lock_of(workshop, package)}):
        bundle = workshop.make({"package.json": package, **lock})
        modules = workshop.trees.path(bundle.code) / "node_modules"
        assert [path.name for path in modules.glob("[!.]*")] == ["part"]


def test_changed_code_alone_installs_nothing(workshop: Workshop) -> None:
    first = workshop.make({"package.json": wanting(part="1"), "a.js": "1"})
    changed = json.dumps({"dependencies": {"part": "1"}, "scripts": {"test": "x"}})
    second = workshop.make({"package.json": changed, "a.js": "2"})
    assert workshop.npm == ["install", "ci"]
    assert second.dependencies == first.dependencies
    assert second.code != first.code


def test_a_rebuild_resolves_again_and_later_uploads_keep_its_answer(
    workshop: Workshop, registry: Registry
) -> None:
    registry.publish("moving", {"index.js": "module.exports = 'old'"})
    files = {"package.json": wanting(moving="*")}
    workshop.make(files)
    registry.publish("moving", {"index.js": "module.exports = 'new'"}, version="1.1.0")
    (workshop.folder / "cache").rename(workshop.folder / "aside")  # npm believes it for minutes
    assert workshop.run(workshop.make(files), "-p", "require('moving')") == "old\n"
    for again in (workshop.make(files, rebuild=1), workshop.make(files)):
        assert workshop.run(again, "-p", "require('moving')") == "new\n"
    assert workshop.npm == ["install", "ci", "install", "ci"]


def test_a_function_without_dependencies_runs_no_npm(workshop: Workshop) -> None:
    assert workshop.make({"a.js": ""}).dependencies == ""
    shipped = {"package.json": "{}", "node_modules/own/index.js": "module.exports = 'shipped'"}
    bundle = workshop.make(shipped)
    assert workshop.run(bundle, "-p", "require('own')") == "shipped\n"
    assert workshop.npm == []


def test_packages_that_were_shipped_as_well_are_left_aside(workshop: Workshop) -> None:
    stale = {"node_modules/part/index.js": "module.exports = 'shipped'"}
    bundle = workshop.make({"package.json": wanting(part="1"), **stale})
    assert workshop.run(bundle, "-p", "require('part')") == "part 1.0.0\n"
    assert any("node_modules was shipped" in line for line in workshop.said)


def test_functions_of_equal_wishes_share_what_is_installed(workshop: Workshop) -> None:
    packages = [json.dumps({"name": name, "dependencies": {"part": "1"}}) for name in "ab"]
    first, second = (workshop.make({"package.json": text}, name="f") for text in packages)
    assert first.dependencies == second.dependencies
    assert workshop.npm == ["install", "ci"]


def test_equal_files_make_an_equal_bundle(workshop: Workshop, tmp_path: Path) -> None:
    files = {"package.json": wanting(part="1"), "a.js": ""}
    other = Workshop(tmp_path / "other", workshop.registry, workshop.interpreter)
    other.folder.mkdir()
    assert workshop.make(files).digest == other.make(files).digest


def test_an_install_script_builds_its_package(workshop: Workshop) -> None:
    bundle = workshop.make({"package.json": wanting(built="1")})
    assert workshop.run(bundle, "-p", "require('built')") == "1\n"


def test_the_functions_own_script_waits_for_no_code(workshop: Workshop) -> None:
    package = json.dumps({"dependencies": {"part": "1"}, "scripts": {"prepare": "husky"}})
    workshop.make({"package.json": package})
    assert any("own script 'prepare' is not run" in line for line in workshop.said)


@pytest.mark.parametrize(
    ("package", "told"),
    [
        (wanting(absent="1"), "'absent@1'"),
        (wanting(part="99"), r"^No matching version found for part@99\.$"),
        (wanting(failing="1"), r"^failing: sh -c node build.js failed: Error: no compiler$"),
    ],
)
def test_what_npm_refuses_is_told_in_its_own_words(
    workshop: Workshop, package: str, told: str
) -> None:
    with pytest.raises(DependencyInstallFailed, match=told):
        workshop.make({"package.json": package})
    assert list((workshop.folder / "images/temporary").iterdir()) == []


def test_a_lock_out_of_step_is_refused_at_the_first_attempt(workshop: Workshop) -> None:
    stale = {
        "package.json": wanting(part="2"),
        "package-lock.json": lock_of(workshop, wanting(part="1")),
    }
    with pytest.raises(DependencyInstallFailed) as failed:
        workshop.make(stale)
    assert "Please update your lock file with `npm install`" in failed.value.message
    assert "lock file's part@1.0.0 does not satisfy part@2.0.0" in failed.value.message
    assert workshop.npm == ["ci"]


def test_a_registry_that_is_away_is_nobodys_mistake(workshop: Workshop) -> None:
    workshop.registry = "http://127.0.0.1:9"
    with pytest.raises(IndexUnavailable, match=r"registry does not answer: .*ECONNREFUSED"):
        workshop.make({"package.json": wanting(part="1")})


def test_a_registry_that_never_answers_is_given_up(workshop: Workshop) -> None:
    with silence() as workshop.registry, pytest.raises(IndexUnavailable):
        workshop.make({"package.json": wanting(part="1")})
