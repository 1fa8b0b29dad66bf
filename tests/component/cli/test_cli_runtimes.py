"""Which runtime a folder is sent for, and the list of those on offer."""

import json
import zipfile
from pathlib import Path

import pytest

from tests.component.cli.conftest import Cli
from tests.component.cli.scripted_api import ScriptedApi

CURE = "This machine has no Node.js for node22; install it."


def sent(sless: Cli, api: ScriptedApi, path: Path, *words: str) -> tuple[str, str]:
    """The runtime that an upload names, and what was told meanwhile."""
    done = sless("deploy", str(path), "--name", "app", "--no-wait", *words)
    assert done.code == 0, done.err
    return api.uploads[-1].query["runtime"], done.err


def offer(api: ScriptedApi, *names: str) -> None:
    api.runtimes = dict.fromkeys(names, "")


def test_what_is_offered_is_a_table_or_json(sless: Cli, api: ScriptedApi) -> None:
    api.runtimes = {"python3.11": "", "node22": CURE}
    done = sless("runtimes")
    assert done.text.splitlines() == ["RUNTIME     MISSING", "python3.11  -", f"node22      {CURE}"]
    assert json.loads(sless("runtimes", "-o", "json").out)["items"] == [
        {"name": "python3.11", "missing": ""},
        {"name": "node22", "missing": CURE},
    ]


def test_a_server_that_offers_or_tells_nothing_says_so(sless: Cli, api: ScriptedApi) -> None:
    offer(api)
    done = sless("runtimes")
    assert (done.code, done.out) == (0, b"")
    assert done.err.startswith("The server offers no runtime")
    api.runtimes = None
    done = sless("runtimes")
    assert (done.code, done.out) == (1, b"")
    assert done.err == (
        "Error: The server is of an earlier version, which does not tell its runtimes.\n"
    )


def test_a_new_function_gets_the_newest_that_the_machine_has(
    sless: Cli, api: ScriptedApi, hello: Path
) -> None:
    api.runtimes = {"python3.9": "", "python3.12": "", "python3.13": "Install it.", "node20": ""}
    assert sent(sless, api, hello)[0] == "python3.12"


def test_another_deploy_keeps_the_runtime(sless: Cli, api: ScriptedApi, hello: Path) -> None:
    offer(api, "python3.11")
    assert sent(sless, api, hello)[0] == "python3.11"
    offer(api, "python3.11", "python3.12", "python3.13")
    runtime, told = sent(sless, api, hello)
    assert (runtime, "runtime changes" in told) == ("python3.11", False)
    assert sent(sless, api, hello, "--runtime", "python3.12")[0] == "python3.12"
    assert sent(sless, api, hello)[0] == "python3.12"


def test_a_change_is_told_with_its_cause(sless: Cli, api: ScriptedApi, hello: Path) -> None:
    offer(api, "python3.11", "node20")
    sent(sless, api, hello)
    offer(api, "python3.12", "python3.13", "node20")
    (hello / ".python-version").write_text("3.12\n")
    runtime, told = sent(sless, api, hello)
    assert runtime == "python3.12"
    assert (
        "The runtime changes from python3.11 to python3.12, since .python-version asks for Python "
        "3.12." in told.splitlines()
    )


@pytest.mark.parametrize(
    ("files", "runtime"),
    [
        ({".python-version": "3.12.1\n", "a.py": ""}, "python3.12"),
        ({"pyproject.toml": "[project]\nrequires-python = '<3.13'\n"}, "python3.12"),
        ({"package.json": '{"engines": {"node": "^20"}}'}, "node20"),
        ({"package.json": "\ufeff{}", ".nvmrc": "v20"}, "node20"),
    ],
)
def test_the_files_of_a_folder_or_zip_say_which_versions_they_take(
    sless: Cli,
    api: ScriptedApi,
    tmp_path: Path,
    *,
    files: dict[str, str],
    runtime: str,
) -> None:
    offer(api, "python3.11", "python3.12", "python3.13", "node20", "node22")
    folder, archive = tmp_path / "app", tmp_path / "app.zip"
    folder.mkdir()
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in files.items():
            (folder / name).write_text(content)
            file.writestr(f"wrapped/{name}", content)
    assert sent(sless, api, folder)[0] == runtime
    api.functions.clear()
    assert sent(sless, api, archive)[0] == runtime


def test_files_that_no_offer_meets_are_named_and_nothing_is_sent(
    sless: Cli, api: ScriptedApi, hello: Path
) -> None:
    offer(api, "python3.11", "node20")
    (hello / ".python-version").write_text("3.13")
    done = sless("deploy", str(hello))
    assert (done.code, done.out, api.uploads) == (2, b"", [])
    assert done.err.splitlines()[-1] == (
        "Error: .python-version asks for Python 3.13, and the server offers python3.11: change "
        "the file, or choose one of these by --runtime."
    )
    assert sent(sless, api, hello, "--runtime", "python3.11")[0] == "python3.11"


def test_a_file_that_names_no_version_is_passed_over_aloud(
    sless: Cli, api: ScriptedApi, tmp_path: Path
) -> None:
    (tmp_path / "index.js").write_text("")
    (tmp_path / ".nvmrc").write_text("lts/iron\n")
    runtime, told = sent(sless, api, tmp_path)
    assert runtime == "node22"
    assert ".nvmrc says 'lts/iron', which names no version: passed over." in told.splitlines()


def test_a_file_that_cannot_be_read_says_nothing(sless: Cli, api: ScriptedApi, hello: Path) -> None:
    (hello / ".python-version").write_bytes(b"\xff\xfe3")
    (hello / "pyproject.toml").mkdir()
    assert sent(sless, api, hello)[0] == "python3.11"


def test_a_runtime_of_another_language_stays(sless: Cli, api: ScriptedApi, hello: Path) -> None:
    (hello / ".python-version").write_text("3.99")
    assert sent(sless, api, hello, "--runtime", "node20")[0] == "node20"
    assert sent(sless, api, hello)[0] == "node20"
    offer(api, "ruby3.3")
    assert sent(sless, api, hello, "--runtime", "ruby3.3")[0] == "ruby3.3"
    assert sent(sless, api, hello)[0] == "ruby3.3"


@pytest.mark.parametrize(("file", "runtime"), [("a.py", "python3.11"), ("a.js", "node20")])
def test_for_a_server_that_does_not_tell_it_guesses(
    sless: Cli, api: ScriptedApi, tmp_path: Path, *, file: str, runtime: str
) -> None:
    api.runtimes = None
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / file).write_text("")
    assert sent(sless, api, tmp_path / "app")[0] == runtime
    assert sent(sless, api, tmp_path / "app", "--runtime", "node22")[0] == "node22"
    assert sent(sless, api, tmp_path / "app")[0] == "node22"
    (tmp_path / "app" / "a.py").write_text("")
    (tmp_path / "app" / "a.js").write_text("")
    done = sless("deploy", "app", "--name", "other")
    assert (done.code, "by --runtime (such as python3.11 or node20)" in done.err) == (2, True)
