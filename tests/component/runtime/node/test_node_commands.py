"""Level 0 under the Node runtime: a program of the function's own."""

from collections.abc import Callable, Mapping

import httpx
import pytest

from tests.component.runtime.conftest import Prepare
from tests.component.runtime.function_process import Ended

pytestmark = pytest.mark.real

SERVER = """
const { createServer } = require("node:http");
const own = Object.keys(process.env).filter((name) => name.startsWith("SLESS_"));
const told = [process.argv.slice(2), own, process.env.A];
const server = createServer((req, res) => res.end(JSON.stringify(told)));
server.listen(process.env.PORT, process.env.HOST);
process.on("SIGTERM", () => process.exit(7));
"""


@pytest.mark.parametrize(
    ("files", "environ", "arguments"),
    [
        ({"Procfile": "web: node server.js one"}, {}, ["one"]),
        ({"Procfile": "# first\r\nweb:node server.js $PORT\r\n"}, {}, ["{port}"]),
        ({"Procfile": "web: cd . && A=2 exec node server.js"}, {}, []),
        ({"Procfile": "web: A=2 node server.js"}, {}, []),
        ({}, {"SLESS_COMMAND": "node server.js ${PORT} '$A'"}, ["{port}", "$A"]),
        (
            {},
            {"SLESS_COMMAND": '["node", "server.js", "$HOST:${PORT}/$(PORT)", "$A", "$PORTS"]'},
            ["127.0.0.1:{port}/{port}", "$A", "$PORTS"],
        ),
        (
            {"Procfile": "web: false", "handler.js": ""},
            {"SLESS_COMMAND": "node server.js", "SLESS_HANDLER": "x:y"},
            [],
        ),
    ],
)
def test_a_program_is_started_and_gets_the_signals(
    prepare: Prepare, files: Mapping[str, str], environ: Mapping[str, str], arguments: list[str]
) -> None:
    with prepare({"server.js": SERVER, **files}, environ={"A": "1", **environ}) as function:
        expected = [each.format(port=function.port) for each in arguments]
        a = "2" if "A=2" in files.get("Procfile", "") else "1"
        assert httpx.get(function.url).json() == [expected, [], a]
        function.terminate()
        assert function.wait().code == 7


def test_a_program_of_a_package_is_found(prepare: Prepare) -> None:
    files = {
        "Procfile": "web: serve one",
        "node_modules/.bin/serve": f"#!/usr/bin/env node\n{SERVER}",
    }
    process = prepare(files)
    (process.code / "node_modules/.bin/serve").chmod(0o755)
    with process as function:
        assert httpx.get(function.url).json() == [["one"], [], None]


@pytest.mark.parametrize(
    ("files", "environ", "message"),
    [
        (
            {"Procfile": "web: no-such-program --port $PORT"},
            {},
            (
                "There is no program 'no-such-program' to run: add it to the code or, if a package "
                "brings it, to package.json."
            ),
        ),
        (
            {"run.sh": ""},
            {"SLESS_COMMAND": '["./run.sh"]'},
            "./run.sh is not executable: chmod +x ./run.sh, or start it by its interpreter.",
        ),
        ({}, {"SLESS_COMMAND": "[1]"}, "The command [1] must be a list of strings, program first."),
    ],
)
def test_a_program_that_is_not_there_is_the_reason(
    fail: Callable[..., Ended], files: Mapping[str, str], environ: Mapping[str, str], message: str
) -> None:
    ended = fail(files, environ=environ)
    assert (ended.code, ended.reason, ended.message) == (1, "HandlerNotFound", message)


def test_the_programs_exit_code_is_the_functions(fail: Callable[..., Ended]) -> None:
    assert fail({"Procfile": "web: exit 5"}).code == 5
    assert fail({"Procfile": "web: kill -9 $$"}).code == -9
