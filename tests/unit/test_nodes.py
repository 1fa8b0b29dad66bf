"""Which Node.js runs a runtime, and what is said without one."""

from pathlib import Path

import pytest

from sless.adapters.bundles.interpreters import find_interpreter
from sless.adapters.bundles.nodes import find_npm
from sless.dependencies import Language
from sless.errors import RuntimeUnavailable


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH; empty."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def install(program: Path, *lines: str) -> Path:
    """A program that says those lines."""
    program.parent.mkdir(exist_ok=True)
    program.write_text("#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines))
    program.chmod(0o755)
    return program


def install_node(program: Path, major: int) -> Path:
    return install(program, str(program), str(major), "linux", "x64")


@pytest.mark.parametrize("name", ["node", "nodejs"])
def test_the_node_on_the_path_is_found_by_its_version(path: Path, name: str) -> None:
    node = install_node(path / name, 22)
    found = find_interpreter("node22", configured={})
    assert (found.language, found.path, found.platform) == (
        Language.NODE,
        node,
        "node-22-linux-x64",
    )


def test_a_later_one_on_the_path_serves_too(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_node(path / "node", 22)
    older = install_node(tmp_path / "older/node", 20)
    monkeypatch.setenv("PATH", f"{path}:{older.parent}")
    assert find_interpreter("node20", configured={}).path == older


def test_the_configured_one_comes_first(path: Path, tmp_path: Path) -> None:
    install_node(path / "node", 20)
    own = install_node(tmp_path / "own", 20)
    assert find_interpreter("node20", configured={"node20": own}).path == own


def test_a_machine_without_node_is_told_so() -> None:
    with pytest.raises(RuntimeUnavailable) as failed:
        find_interpreter("node20", configured={})
    assert failed.value.message == (
        "Node.js, which node20 needs, is not installed on this machine; install it and start the "
        "home again, name it in SLESS_RUNTIMES__INTERPRETERS, or deploy with another --runtime."
    )


def test_other_versions_are_named(path: Path) -> None:
    install_node(path / "node", 18)
    with pytest.raises(RuntimeUnavailable, match=r"no Node\.js for node20 \(there is node18\); "):
        find_interpreter("node20", configured={})


def test_what_is_no_node_is_passed_over(path: Path) -> None:
    install(path / "node", "hello")
    with pytest.raises(RuntimeUnavailable, match="is not installed"):
        find_interpreter("node20", configured={})


def test_a_configured_one_of_another_version_is_refused(tmp_path: Path) -> None:
    own = install_node(tmp_path / "own", 18)
    with pytest.raises(RuntimeUnavailable, match="set as the interpreter of node20, is not one"):
        find_interpreter("node20", configured={"node20": own})


def test_npm_is_the_one_beside(path: Path, tmp_path: Path) -> None:
    install(path / "npm")
    node = install_node(tmp_path / "own/node", 20)
    assert find_npm(node) == (str(path / "npm"),)
    script = install(tmp_path / "own/npm-cli.js")
    (node.parent / "npm").symlink_to(script)
    assert find_npm(node) == (str(node), str(script)), "run by that Node.js, not by the PATH's"


def test_a_node_without_npm_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(RuntimeUnavailable, match="There is no npm beside"):
        find_npm(tmp_path / "node")


def test_another_language_is_refused() -> None:
    with pytest.raises(RuntimeUnavailable, match=r"Python or Node\.js; cobol74 is neither"):
        find_interpreter("cobol74", configured={})
