"""The command line and the home of this machine, of which it knows the data folder."""

import json
import os
import socket
from pathlib import Path

import pytest

from sless.local.pidfile import find_mark
from tests.component.cli.conftest import Cli
from tests.component.cli.scripted_api import TOKEN, RunningServer, ScriptedApi

LOG = ".local/share/sless/logs/functions/default/hello-world.log"


def _write_home(folder: Path, url: str, *, pid: int = 1) -> None:
    mark = find_mark(pid)
    folder.mkdir(parents=True)
    (folder / "token").write_text(f"{TOKEN}\n")
    home = {
        "version": "0.1.0",
        "pid": pid,
        "started": mark.started + (pid == 1) if mark else 0,
        "api": url,
        "gateway": url,
        "temporal_ui": url,
        "temporal": "127.0.0.1:1",
        "s3": url,
        "token": str(folder / "token"),
        "logs": str(folder / "logs"),
    }
    (folder / "home.json").write_text(json.dumps(home))


@pytest.fixture
def free_port() -> int:
    """Where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@pytest.mark.parametrize("how", ["default", "option", "option first", "variable", "xdg"])
def test_a_home_is_found_by_its_data_folder(
    offline: Cli, server: RunningServer, tmp_path: Path, *, how: str
) -> None:
    folder = tmp_path / (".local/share/sless" if how == "default" else "data/sless")
    _write_home(folder, server.url)
    match how:
        case "option":
            done = offline("list", "--data", str(folder))
        case "option first":
            done = offline("--data", str(folder), "list")
        case "variable":
            done = offline("list", SLESS_DATA=str(folder))
        case "xdg":
            done = offline("list", XDG_DATA_HOME=str(folder.parent))
        case _:
            done = offline("list")
    assert (done.code, done.err) == (0, "No functions in default: `sless deploy PATH` makes one.\n")


def test_a_home_that_died_is_said_to_be_down(
    offline: Cli, tmp_path: Path, *, free_port: int
) -> None:
    _write_home(tmp_path / "d", f"http://127.0.0.1:{free_port}")
    done = offline("list", "--data", "d")
    assert done.code == 3
    assert "cannot be reached (" in done.err
    assert "start the home with `sless up --data" in done.err


def test_the_homes_token_is_not_sent_elsewhere(
    offline: Cli, server: RunningServer, api: ScriptedApi, tmp_path: Path
) -> None:
    _write_home(tmp_path / ".local/share/sless", server.url)
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login a password b\n")
    done = offline("list", "--server", server.url)
    assert done.code == 1
    assert "authorization" not in api.requests[0][1]
    assert "[Unauthenticated]" in done.err
    assert "--token or SLESS_TOKEN" in done.err


def test_an_api_that_is_started_again_is_not_a_home_that_is_down(
    offline: Cli, tmp_path: Path, *, free_port: int
) -> None:
    _write_home(tmp_path / "d", f"http://127.0.0.1:{free_port}", pid=os.getpid())
    done = offline("list", "--data", "d")
    assert done.code == 3
    assert "the home is up and starts it again; try once more, or see " in done.err
    assert done.err.endswith("/d/logs/api.log.\n")


@pytest.fixture
def at_home(offline: Cli, server: RunningServer, tmp_path: Path) -> Cli:
    """A `sless` that finds the scripted server as its user's home, with a function's log."""
    _write_home(tmp_path / ".local/share/sless", server.url)
    (tmp_path / LOG).parent.mkdir(parents=True)
    (tmp_path / LOG).write_text("Traceback\n")
    return offline


@pytest.mark.parametrize(
    ("reason", "end"),
    [
        ("HandlerImportFailed", "again ({log} has the log)."),
        (
            "DependencyInstallFailed",
            "again (`sless logs hello-world` has the log).",
        ),
        ("DependencyFileInvalid", "; mend it and deploy again."),
    ],
)
def test_a_failure_names_the_log_that_tells_more(
    at_home: Cli, api: ScriptedApi, hello: Path, *, reason: str, end: str
) -> None:
    api.phases = [{"phase": "Failed", "reason": reason, "message": "SyntaxError."}]
    done = at_home("deploy", str(hello))
    assert done.err.endswith(f"{end}\n".format(log=hello.parent / LOG))


def test_a_function_that_raised_is_told_with_its_log(
    at_home: Cli, hello: Path, tmp_path: Path
) -> None:
    assert at_home("deploy", str(hello)).code == 0
    raised = at_home("invoke", "hello-world", "--path", "?status=500")
    assert raised.err.endswith(f" 500 Internal Server Error: its log is {tmp_path / LOG}.\n")
    away = at_home("invoke", "hello-world", "--path", "?status=503")
    assert away.err.endswith(" `sless get hello-world` shows how it is.\n")
    assert f"Log         {tmp_path / LOG}" in at_home("get", "hello-world").text
    (tmp_path / LOG).unlink()
    assert "Log " not in at_home("get", "hello-world").text
