"""Level 0: a program of the function's own."""

from collections.abc import Callable, Mapping
from pathlib import Path

import httpx
import pytest

from tests.component.runtime.conftest import Prepare
from tests.component.runtime.function_process import Ended, write_files

pytestmark = pytest.mark.real

SERVER = """
import http.server, os, sys
class Tell(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        own = [name for name in os.environ if name.startswith("SLESS_")]
        self.wfile.write(repr((sys.argv[1:], own, os.environ.get("A"))).encode())
    def log_message(self, *_): pass
http.server.HTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Tell).serve_forever()
"""


@pytest.mark.parametrize(
    ("files", "environ", "arguments"),
    [
        ({"Procfile": "web: python server.py one"}, {}, ["one"]),
        ({"Procfile": "# first\r\nweb:python server.py $PORT\r\n"}, {}, ["{port}"]),
        ({"Procfile": "web: cd . && A=2 exec python server.py"}, {}, []),
        ({"Procfile": "web: A=2 python server.py"}, {}, []),
        ({}, {"SLESS_COMMAND": "python server.py ${PORT} '$A'"}, ["{port}", "$A"]),
        (
            {},
            {"SLESS_COMMAND": '["python", "server.py", "$HOST:${PORT}/$(PORT)", "$A", "$PORTS"]'},
            ["127.0.0.1:{port}/{port}", "$A", "$PORTS"],
        ),
        (
            {"Procfile": "web: false", "handler.py": ""},
            {"SLESS_COMMAND": "python server.py", "SLESS_HANDLER": "x:y"},
            [],
        ),
    ],
)
def test_a_program_is_started(
    prepare: Prepare,
    files: Mapping[str, str],
    environ: Mapping[str, str],
    arguments: list[str],
) -> None:
    with prepare({"server.py": SERVER, **files}, environ={"A": "1", **environ}) as function:
        expected = [each.format(port=function.port) for each in arguments]
        a = "2" if "A=2" in files.get("Procfile", "") else "1"
        assert httpx.get(function.url).text == repr((expected, [], a))


def test_a_program_finds_the_functions_packages(prepare: Prepare, tmp_path: Path) -> None:
    serve = f"#!/usr/bin/env python\nimport brought\n{SERVER}"
    site = write_files(tmp_path, {"brought.py": "", "bin/serve": serve})
    (site / "bin" / "serve").chmod(0o755)
    with prepare({"Procfile": "web: serve"}, site=site) as function:
        assert httpx.get(function.url).status_code == 200


@pytest.mark.parametrize(
    ("files", "command", "message"),
    [
        (
            {"Procfile": "web: gunicorn app:app"},
            "",
            (
                "There is no program 'gunicorn' to run: add it to the code or, if a package "
                "brings it, to requirements.txt."
            ),
        ),
        (
            {"run.sh": "#!/bin/sh\n"},
            '["./run.sh"]',
            "./run.sh is not executable: chmod +x ./run.sh, or start it by its interpreter.",
        ),
        ({}, "[1]", "The command [1] must be a list of strings, program first."),
        ({}, "[]", "The command [] must be a list of strings, program first."),
    ],
)
def test_a_program_that_cannot_be_started_says_why(
    fail: Callable[..., Ended], files: Mapping[str, str], command: str, message: str
) -> None:
    ended = fail(files, environ={"SLESS_COMMAND": command})
    assert (ended.code, ended.reason, ended.message) == (1, "HandlerNotFound", message)


def test_a_programs_exit_code_is_the_functions(fail: Callable[..., Ended]) -> None:
    ended = fail({}, environ={"SLESS_COMMAND": "echo going; exit 7"})
    assert (ended.code, ended.stdout, ended.reason) == (7, "going\n", "")
