import json
import subprocess
import sys
from importlib.metadata import version

import click
import pytest

from sless.cli.command import ExampleCommand
from sless.cli.commands import ENTRIES, load
from tests.component.cli.conftest import Cli

OWN = [name for name, entry in ENTRIES.items() if entry.place.startswith("sless.cli")]


@pytest.mark.parametrize("name", OWN)
def test_each_command_has_its_name_and_an_example(name: str) -> None:
    command = load(ENTRIES[name])
    assert isinstance(command, ExampleCommand)
    assert command.name == name
    assert any(f"sless {name}" in example for example in command.examples)
    with click.Context(command) as context:
        assert command.examples[0] in command.get_help(context)


def test_help_lists_all_and_imports_none() -> None:
    code = (
        "import sys; from sless.cli.main import main; code = main(['--help']);"
        "heavy = {'httpx', 'rich', 'pydantic', 'zipfile', 'asyncio'} & set(sys.modules);"
        "sys.exit(f'{code} {heavy}' if code or heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(f"\n  {name} " in done.stdout for name in ENTRIES)


def test_without_a_command_the_help_is_shown(offline: Cli) -> None:
    done = offline()
    assert (done.code, done.text) == (0, offline("-h").text)
    assert "Exit codes: 0 done" in done.text


def test_an_unknown_command_is_wrong_use(offline: Cli) -> None:
    done = offline("lst")
    assert (done.code, done.err) == (2, "Error: No such command 'lst'. See `sless --help`.\n")


def test_version(offline: Cli) -> None:
    assert offline("version").text == f"sless {version('sless')}\n"
    assert json.loads(offline("version", "-o", "json").out)["version"] == version("sless")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_for_the_shell(offline: Cli, shell: str) -> None:
    done = offline("completion", shell)
    assert (done.code, "_SLESS_COMPLETE" in done.text) == (0, True)


def test_completion_knows_the_options(offline: Cli) -> None:
    done = offline(_SLESS_COMPLETE="bash_complete", COMP_WORDS="sless deploy --ru", COMP_CWORD="2")
    assert done.text.splitlines() == ["plain,--runtime"]
