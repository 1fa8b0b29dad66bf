"""Case B3 for Node: each way to declare packages works or says what does not."""

import json
from pathlib import Path

import pytest

from sless.dependencies import Dependencies, DependencyKind, Language, find_dependencies
from sless.errors import DependencyFileInvalid, DependencyUnsupported, SlessError

PACKAGE = '{"dependencies": {"a": "1"}}'
LOCK = '{"lockfileVersion": 3}'


def find(files: dict[str, str]) -> Dependencies:
    return find_dependencies({path: text.encode() for path, text in files.items()}, Language.NODE)


def refuse(files: dict[str, str], error: type[SlessError]) -> str:
    with pytest.raises(SlessError) as caught:
        find(files)
    assert type(caught.value) is error
    assert caught.value.message.endswith(".")
    return caught.value.message


def test_without_a_package_json_nothing_is_installed() -> None:
    assert find({"index.js": "", "requirements.txt": "six"}) == Dependencies()


@pytest.mark.parametrize("text", ["{}", '{"type": "module", "devDependencies": {"a": "1"}}'])
def test_a_package_json_that_wants_nothing_installs_nothing(text: str) -> None:
    assert find({"package.json": text}) == Dependencies()


@pytest.mark.parametrize("around", ["%s", "\ufeff%s\r\n"])
@pytest.mark.parametrize("group", ["dependencies", "optionalDependencies", "peerDependencies"])
def test_without_a_lock_npm_installs(around: str, group: str) -> None:
    found = find({"package.json": around % json.dumps({group: {"left-pad": "^1.0"}})})
    assert found.kind is DependencyKind.NPM_INSTALL
    assert found.paths == ("package.json",)
    assert not found.files[0].text.startswith("\ufeff")


@pytest.mark.parametrize("lock", ["package-lock.json", "npm-shrinkwrap.json"])
def test_with_a_lock_npm_installs_cleanly(lock: str) -> None:
    found = find({"package.json": "{}", lock: LOCK, "yarn.lock": ""})
    assert found.kind is DependencyKind.NPM_CI
    assert found.paths == tuple(sorted(("package.json", lock)))


@pytest.mark.parametrize(
    ("files", "word"),
    [
        ({"package.json": '{\n  "name": "x",\n  oops\n}'}, "line 3, column 3"),
        ({"package.json": ""}, "line 1"),
        ({"package.json": "[]"}, "object"),
        ({"package.json": "[" * 100_000}, "package.json"),
        ({"package.json": '{"dependencies": []}'}, "'dependencies'"),
        ({"package.json": '{"dependencies": {"a": 1}}'}, "'a'"),
        ({"package.json": "{}", "package-lock.json": "{"}, "package-lock.json"),
        ({"package-lock.json": LOCK}, "needs its package.json"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(files: dict[str, str], word: str) -> None:
    assert word in refuse(files, DependencyFileInvalid)


@pytest.mark.parametrize(
    "version",
    [
        "1.2.3",
        "^1 || ~2",
        "latest",
        "*",
        "",
        "npm:other@1",
        "https://e.org/x.tgz",
        ">=1 <2",
        "next-1",
    ],
)
def test_versions_that_work(version: str) -> None:
    assert find({"package.json": json.dumps({"dependencies": {"a": version}})}).files


@pytest.mark.parametrize(
    ("version", "word"),
    [
        ("file:../x", "local"),
        ("link:./x", "local"),
        ("workspace:*", "local"),
        ("./x", "local"),
        ("../x.tgz", "local"),
        ("git+https://e.org/x.git", "git"),
        ("git+ssh://git@e.org/x.git", "git"),
        ("git@e.org:x/y.git", "git"),
        ("github:owner/name", "git"),
        ("owner/name#main", "git"),
        ("https://e.org/x.git#v1", "git"),
    ],
)
def test_versions_that_a_build_cannot_fetch_say_so(version: str, word: str) -> None:
    files = {"package.json": json.dumps({"optionalDependencies": {"pkg": version}})}
    message = refuse(files, DependencyUnsupported)
    assert "'pkg'" in message
    assert word in message


@pytest.mark.parametrize("lock", ["yarn.lock", "pnpm-lock.yaml", "bun.lock"])
def test_another_tool_s_lock_is_not_ignored_silently(lock: str) -> None:
    message = refuse({"package.json": "{}", lock: ""}, DependencyUnsupported)
    assert message.startswith(lock)
    assert "npm install --package-lock-only" in message


def test_workspaces_are_not_supported() -> None:
    assert "workspaces" in refuse({"package.json": '{"workspaces": ["a"]}'}, DependencyUnsupported)


def test_an_npmrc_is_used_unless_it_holds_a_secret() -> None:
    files = {"package.json": PACKAGE, ".npmrc": "registry=https://npm.example/\n; _auth = x\n"}
    assert find(files).paths == (".npmrc", "package.json")
    for line in ("//npm.example/:_authToken=hunter2", "_auth = hunter2", " x:_password=hunter2"):
        message = refuse({"package.json": "{}", ".npmrc": f"a=b\n{line}\n"}, DependencyUnsupported)
        assert "hunter2" not in message


def test_what_needs_the_code_or_only_development_is_not_given_to_npm() -> None:
    package = {
        "name": "f",
        "scripts": {"test": "x"},
        "dependencies": {"a": "1"},
        "devDependencies": {"b": "1"},
    }
    unlocked = find({"package.json": json.dumps(package)})
    assert json.loads(unlocked.files[0].text) == {
        "name": "function",
        "dependencies": {"a": "1"},
    }
    locked = find({"package.json": json.dumps(package), "package-lock.json": LOCK})
    assert "devDependencies" in json.loads(locked.files[-1].text), "npm compares it with the lock"
    assert not unlocked.warnings + locked.warnings


def test_a_changed_script_wants_nothing_else_installed() -> None:
    texts = [json.dumps({"dependencies": {"a": "1"}, "scripts": {"test": x}}) for x in "xy"]
    first, second = (find({"package.json": text}) for text in texts)
    assert first.sha256 == second.sha256


@pytest.mark.parametrize("script", ["postinstall", "prepare"])
def test_the_functions_own_install_script_is_warned_of(script: str) -> None:
    package = {"dependencies": {"a": "1"}, "scripts": {script: "tsc"}}
    (warning,) = find({"package.json": json.dumps(package)}).warnings
    assert f"own script '{script}' is not run" in warning


def test_the_examples_lock_holds_wherever_packages_come_from() -> None:
    lock = Path(__file__).parents[2] / "examples/markdown-node/package-lock.json"
    assert "integrity" in lock.read_text()
    assert "://" not in lock.read_text()
