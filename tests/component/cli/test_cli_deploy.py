import json
import signal
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from sless.errors import (
    ArchiveUnsafePath,
    FunctionNotFound,
    RuntimeUnsupported,
    StorageUnavailable,
)
from tests.component.cli.conftest import Cli
from tests.component.cli.scripted_api import LOG, RunningServer, ScriptedApi, problem

PATH = "/v1/namespaces/default/functions/hello-world"


def test_a_folder_becomes_a_url_on_stdout_alone(sless: Cli, api: ScriptedApi, hello: Path) -> None:
    done = sless("deploy", str(hello))
    assert (done.code, done.text) == (0, f"{api.url}/fn/default/hello-world\n")
    upload = api.uploads[0]
    assert (upload.query, upload.settings) == ({"runtime": "python3.11"}, {})
    assert zipfile.ZipFile(BytesIO(upload.zip)).namelist() == ["handler.py"]


def test_what_happens_is_told_on_stderr(sless: Cli, hello: Path) -> None:
    err = sless("deploy", str(hello)).err
    assert "Named it hello-world" in err
    order = ["Packed 1 file for", "Uploaded", "Pending ...", "Building ...", "| Collecting lib"]
    order += ["| Installed 1", "Deploying took"]
    places = [err.find(text) for text in order]
    assert -1 not in places
    assert places[:4] == sorted(places[:4])
    assert "\x1b" not in err


def test_json_is_alone_on_stdout(sless: Cli, hello: Path) -> None:
    done = sless("deploy", str(hello), "-o", "json", "-n", "team-a", "--name", "shop")
    shown = json.loads(done.out)
    assert (shown["namespace"], shown["name"], shown["phase"]) == ("team-a", "shop", "Ready")
    assert set(shown) == {
        "namespace", "name", "generation", "build", "phase", "reason", "message", "url", "logUrl",
        "temporalUrl", "warnings",
    }  # fmt: skip


def test_settings_ride_along_and_variables_are_merged(
    sless: Cli, api: ScriptedApi, hello: Path
) -> None:
    first = ["--env", "A=1", "--env", "B=two words = x", "--handler", "m:f", "--command", "a 'b c'"]
    assert sless("deploy", str(hello), "--no-wait", *first).code == 0
    assert api.uploads[0].settings == {
        "handler": "m:f",
        "command": ["a", "b c"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "two words = x"}],
    }
    assert sless("deploy", str(hello), "--no-wait", "-e", "A=3", "-e", "C=4").code == 0
    env = {var["name"]: var["value"] for var in api.uploads[1].settings["env"]}
    assert env == {"A": "3", "B": "two words = x", "C": "4"}


def test_no_wait_prints_where_to_look(sless: Cli, api: ScriptedApi, hello: Path) -> None:
    done = sless("deploy", str(hello), "--no-wait")
    assert done.code == 0
    assert f"url       {api.url}/fn/default/hello-world" in done.text.splitlines()
    shown = json.loads(sless("deploy", str(hello), "--no-wait", "-o", "json").out)
    assert (shown["phase"], shown["generation"]) == ("Pending", 2)


def test_an_unchanged_folder_says_so_and_is_a_new_ask(sless: Cli, hello: Path) -> None:
    assert "unchanged" not in sless("deploy", str(hello)).err
    again = sless("deploy", str(hello), "-o", "json")
    assert "The code is unchanged since the last upload" in again.err
    assert json.loads(again.out)["generation"] == 2
    (hello / "more.py").write_text("")
    assert "unchanged" not in sless("deploy", str(hello)).err


def test_a_failed_build_shows_its_log_and_what_to_do(
    sless: Cli, api: ScriptedApi, hello: Path
) -> None:
    failure = {"phase": "Failed", "reason": "DependencyInstallFailed", "message": "No such lib."}
    api.phases = [{"phase": "Pending"}, failure]
    done = sless("deploy", str(hello), "-n", "team-a")
    assert (done.code, done.out) == (1, b"")
    assert "| Collecting lib" in done.err
    assert done.err.splitlines()[-1] == (
        "Error: team-a/hello-world failed: No such lib [DependencyInstallFailed]; "
        "mend it and deploy again (`sless logs hello-world -n team-a` has the log)."
    )


def test_what_it_struggles_with_is_told_once(sless: Cli, api: ScriptedApi, hello: Path) -> None:
    away = {"reason": "RegistryUnavailable", "message": "It does not answer. It is asked again."}
    api.phases = [
        {"phase": "Pending", **away},
        {"phase": "Pending", **away},
        {"phase": "Building", "reason": "Building"},
        {"phase": "Deploying", "reason": "NotRouted", "message": "Not yet."},
        {"phase": "Ready"},
    ]
    done = sless("deploy", str(hello))
    assert done.code == 0
    assert done.err.count("It does not answer. It is asked again [RegistryUnavailable]") == 1
    assert "NotRouted" not in done.err


def test_a_failure_of_nobody_may_be_retried(sless: Cli, api: ScriptedApi, hello: Path) -> None:
    api.phases = [{"phase": "Failed", "reason": "BuildLost", "message": "Its pod vanished."}]
    done = sless("deploy", str(hello), "-n", "team-a")
    assert done.code == 1
    assert "; try again with `sless retry hello-world -n team-a` (" in done.err


def test_a_failure_is_json_as_well(sless: Cli, api: ScriptedApi, hello: Path) -> None:
    api.phases = [{"phase": "Failed", "reason": "OutOfMemory", "message": "Over 1 GiB."}]
    done = sless("deploy", str(hello), "-o", "json")
    shown = json.loads(done.out)
    assert (done.code, shown["phase"], shown["reason"]) == (1, "Failed", "OutOfMemory")


def test_a_newer_ask_overtakes(sless: Cli, api: ScriptedApi, hello: Path) -> None:
    api.phases = [{"phase": "Building"}]
    command = sless.start("deploy", str(hello))
    assert command.stderr is not None
    while b"Building" not in command.stderr.readline():
        assert command.poll() is None
    api.ask("default", "hello-world")
    _, err = command.communicate(timeout=20)
    assert command.returncode == 1
    assert "A newer ask (generation 2) overtook this one (generation 1)" in err.decode()


def test_a_log_whose_connection_drops_is_whole_and_not_doubled(
    sless: Cli, api: ScriptedApi, hello: Path
) -> None:
    api.cut_after = 1
    err = sless("deploy", str(hello)).err
    assert [line for line in err.splitlines() if line.startswith("|")] == [
        "| Collecting lib",
        "| Installed 1",
    ]
    resumed = [
        headers["last-event-id"] for _, headers in api.requests if "last-event-id" in headers
    ]
    assert resumed == [event for event, _ in LOG]


def test_a_restart_of_the_server_is_waited_for(
    sless: Cli, api: ScriptedApi, server: RunningServer, hello: Path
) -> None:
    api.phases = [{"phase": "Building"}]
    command = sless.start("deploy", str(hello))
    assert command.stderr is not None
    while b"Building" not in command.stderr.readline():
        assert command.poll() is None
    server.stop()
    while b"The server went away; waiting up to" not in command.stderr.readline():
        assert command.poll() is None
    api.functions["default", "hello-world"]["status"] |= {"phase": "Ready"}
    server.start()
    out, err = command.communicate(timeout=20)
    assert (command.returncode, out.decode()) == (0, f"{api.url}/fn/default/hello-world\n")
    assert "The server is back." in err.decode()


def test_ctrl_c_ends_the_waiting_and_not_the_work(
    sless: Cli, api: ScriptedApi, hello: Path
) -> None:
    api.phases = [{"phase": "Building"}]
    command = sless.start("deploy", str(hello))
    assert command.stderr is not None
    while b"Building" not in command.stderr.readline():
        assert command.poll() is None
    command.send_signal(signal.SIGINT)
    _, err = command.communicate(timeout=10)
    assert command.returncode == 130
    assert "the work goes on: `sless get hello-world` shows it" in err.decode()
    assert "Traceback" not in err.decode()


def test_a_timeout_says_that_the_work_goes_on(sless: Cli, api: ScriptedApi, hello: Path) -> None:
    api.phases = [{"phase": "Building"}]
    done = sless("deploy", str(hello), "--timeout", "0.3")
    assert (done.code, "the work goes on" in done.err) == (1, True)


@pytest.mark.parametrize(
    ("files", "runtime"),
    [
        ({"a.py": ""}, "python3.11"),
        ({"requirements.txt": ""}, "python3.11"),
        ({"pyproject.toml": "", "build.js": ""}, "python3.11"),
        ({"package.json": "{}", "gyp.py": ""}, "node22"),
        ({"index.mjs": ""}, "node22"),
    ],
)
def test_the_files_tell_the_language_and_the_server_its_newest_runtime(
    sless: Cli, api: ScriptedApi, tmp_path: Path, *, files: dict[str, str], runtime: str
) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(content)
    assert sless("deploy", "app", "--no-wait").code == 0
    assert api.uploads[0].query == {"runtime": runtime}


def test_what_is_no_function_is_said_to_be_none(
    sless: Cli, api: ScriptedApi, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.zip").write_text("no zip")
    for name, reason in (("empty", "ArchiveEmpty"), ("text.zip", "ArchiveNotZip")):
        done = sless("deploy", name)
        assert (done.code, api.uploads) == (1, [])
        assert done.err.endswith(f"[{reason}]\n")


def test_an_ambiguous_folder_needs_the_runtime_only_once(
    sless: Cli, api: ScriptedApi, hello: Path
) -> None:
    (hello / "index.js").write_text("")
    done = sless("deploy", str(hello))
    assert (done.code, api.uploads) == (2, [])
    assert "do not tell the runtime" in done.err
    assert "choose one by --runtime (python3.11, node20, node22)" in done.err
    assert sless("deploy", str(hello), "--runtime", "node22", "--no-wait").code == 0
    assert sless("deploy", str(hello), "--no-wait").code == 0
    assert [upload.query["runtime"] for upload in api.uploads] == ["node22", "node22"]


def test_a_zip_is_sent_as_it_is(sless: Cli, api: ScriptedApi, tmp_path: Path) -> None:
    path = tmp_path / "app.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("app/main.py", "x = 1\n")
    assert sless("deploy", "app.zip", "--no-wait").code == 0
    upload = api.uploads[0]
    assert (upload.name, upload.zip) == ("app", path.read_bytes())
    assert upload.query == {"runtime": "python3.11"}


def test_a_secret_file_is_warned_of(sless: Cli, hello: Path) -> None:
    (hello / ".env").write_text("KEY=1")
    done = sless("deploy", str(hello), "--no-wait")
    assert done.code == 0
    assert "Warning: " in done.err
    assert ".env" in done.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RuntimeUnsupported("Runtime 'x1' is not offered; use one of python3.11."), 2),
        (ArchiveUnsafePath("Entry '../x' climbs out."), 1),
        (StorageUnavailable("S3 does not answer; try again."), 3),
    ],
)
def test_a_refused_upload_is_one_sentence(
    sless: Cli,
    api: ScriptedApi,
    hello: Path,
    *,
    error: RuntimeUnsupported | ArchiveUnsafePath | StorageUnavailable,
    code: int,
) -> None:
    api.overrides[f"PUT {PATH}/code"] = lambda _: problem(error)
    done = sless("deploy", str(hello))
    assert (done.code, done.out) == (code, b"")
    assert done.err.splitlines()[-1].startswith(f"Error: {error.message}")
    assert f"[{error.reason}]" in done.err


@pytest.mark.parametrize("verb", ["deploy", "upload"])
def test_an_upload_that_finds_no_function_names_the_namespace(
    sless: Cli, api: ScriptedApi, hello: Path, verb: str
) -> None:
    gone = FunctionNotFound("There is no function hello-world in namespace default.")
    api.overrides[f"PUT {PATH}/code"] = lambda _: problem(gone)
    done = sless(verb, str(hello))
    assert done.code == 1
    assert done.err.splitlines()[-1] == (
        "Error: There is no namespace default for this token: name another by -n, or get another "
        "token. [FunctionNotFound]"
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere"], "There is no 'nowhere': name a folder or a zip."),
        (["note.txt"], "'note.txt' is neither a folder nor a .zip"),
        ([".", "--env", "A"], "'A' is no variable: write NAME=value."),
        ([".", "--env", "A=1", "--env", "A=2"], "variable 'A' is given twice"),
        ([".", "--command", "'a"], "cannot be split into words"),
        ([".", "--name", "Nein"], "cannot be a function name"),
        (["---"], "No such option"),
    ],
)
def test_wrong_use_is_one_sentence(
    sless: Cli, tmp_path: Path, *, words: list[str], says: str
) -> None:
    (tmp_path / "note.txt").write_text("")
    (tmp_path / "a.py").write_text("")
    done = sless("deploy", "--runtime", "python3.11", *words)
    assert (done.code, done.out) == (2, b"")
    assert says in done.err
    assert done.err.splitlines()[-1].startswith("Error: ")
