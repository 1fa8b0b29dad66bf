"""How a Node function is found, and what its author reads when it is not."""

from collections.abc import Callable, Mapping

import httpx
import pytest

from tests.component.runtime.conftest import Prepare
from tests.component.runtime.function_process import Ended

pytestmark = pytest.mark.real

FETCH = "export const {name} = (request) => 'fetch';"
LISTENER = "module.exports.{name} = (req, res) => res.end('listener');"
LOOKED = (
    "No handler was found. Looked for an export handler, default, app in handler, index, app, "
    "main, server (.mjs, .js, .cjs), and a Procfile. "
)


@pytest.mark.parametrize(
    ("files", "environ", "answer"),
    [
        ({"handler.mjs": FETCH.format(name="handler")}, {}, "fetch"),
        ({"handler.cjs": LISTENER.format(name="handler")}, {}, "listener"),
        ({"index.js": LISTENER.format(name="handler")}, {}, "listener"),
        ({"index.js": "module.exports = (req, res) => res.end('whole')"}, {}, "whole"),
        (
            {"index.js": "const handler = () => 'in braces';\nmodule.exports = { handler }"},
            {},
            "in braces",
        ),
        ({"index.js": "exports.default = () => 'ts'; exports.__esModule = true"}, {}, "ts"),
        (
            {"package.json": '{"type": "module"}', "index.js": "export default () => 'esm'"},
            {},
            "esm",
        ),
        ({"app.mjs": "export default { fetch: () => new Response('object') }"}, {}, "object"),
        ({"server.mjs": "const app = () => 'named';\nexport { app }"}, {}, "named"),
        (
            {
                "package.json": '{"main": "src/go.cjs"}',
                "src/go.cjs": "module.exports = () => 'main'",
            },
            {},
            "main",
        ),
        (
            {"main.mjs": "export * from './part.mjs'", "part.mjs": FETCH.format(name="handler")},
            {},
            "fetch",
        ),
        ({"index.mjs": "throw 1", "handler.mjs": FETCH.format(name="handler")}, {}, "fetch"),
        ({"app.mjs": FETCH.format(name="go")}, {"SLESS_HANDLER": "app:go"}, "fetch"),
        ({"a/b.mjs": FETCH.format(name="go")}, {"SLESS_HANDLER": "a/b:go"}, "fetch"),
        ({"a/b.mjs": FETCH.format(name="go")}, {"SLESS_HANDLER": "a.b:go"}, "fetch"),
        ({"a/index.js": LISTENER.format(name="go")}, {"SLESS_HANDLER": "a:go"}, "listener"),
        (
            {
                "x.mjs": (
                    "class A { word = 'bound'; go() { return this.word } }\n"
                    "export const a = new A()"
                )
            },
            {"SLESS_HANDLER": "x:a.go"},
            "bound",
        ),
        (
            {"Procfile": "web: false", "x.mjs": FETCH.format(name="go")},
            {"SLESS_HANDLER": "x:go"},
            "fetch",
        ),
    ],
)
def test_a_function_is_found(
    prepare: Prepare, files: Mapping[str, str], environ: Mapping[str, str], answer: str
) -> None:
    with prepare(files, environ=environ) as function:
        assert httpx.get(function.url).text == answer


@pytest.mark.parametrize(
    ("files", "handler", "message"),
    [
        (
            {"app.mjs": "export function create() {}\nexport class A {}\nconst hidden = 1"},
            "",
            LOOKED
            + (
                "app.mjs exports: create, A. Name one with --handler module:export, for example "
                "--handler app:create."
            ),
        ),
        (
            {"src/api.mjs": ""},
            "",
            LOOKED
            + (
                "The code has no JavaScript file at its top. Below there is src/api.mjs, which is "
                "named as --handler src/api:export."
            ),
        ),
        (
            {"server.js": "listen()", "package.json": '{"scripts": {"start": "node server.js"}}'},
            "",
            (
                "The start script of package.json is not run; write 'web: node server.js' to a "
                "Procfile."
            ),
        ),
        (
            {"server.js": "// export default 1\nlisten()"},
            "",
            (
                "server.js exports nothing. If server.js is a server, write 'web: node server.js' "
                "to a Procfile."
            ),
        ),
        (
            {"Procfile": "worker: x"},
            "",
            "and a web line in the Procfile. The code has no JavaScript file at its top.",
        ),
        (
            {"main.mjs": FETCH.format(name="handle")},
            "main:handel",
            "main.mjs exports no 'handel'. Did you mean 'handle'? main.mjs exports: handle.",
        ),
        (
            {"main.mjs": FETCH.format(name="handle")},
            "mian:handle",
            "There is no module 'mian' in the code. main.mjs exports: handle.",
        ),
        ({"main.mjs": ""}, "main", "'main' must read module:export, perhaps main:handler."),
        (
            {"main.mjs": "export const a = 1"},
            "main:a",
            "main:a is a number, which nobody can call.",
        ),
        (
            {"main.mjs": "export const a = {b: 1}"},
            "main:a",
            "main:a is an object without a fetch method (it has b).",
        ),
        (
            {"main.mjs": "export class A {}"},
            "main:A",
            "main:A is a class; export an instance of it, or a function.",
        ),
        (
            {
                "main.mjs": (
                    "import { createServer } from 'node:http';\n"
                    "export const app = createServer().listen(0);"
                )
            },
            "",
            "main:app listens by itself; leave its listen() away, or name it in a Procfile.",
        ),
    ],
)
def test_a_function_that_is_not_found_says_what_there_is(
    fail: Callable[..., Ended], files: Mapping[str, str], handler: str, message: str
) -> None:
    ended = fail(files, environ={"SLESS_HANDLER": handler})
    assert (ended.code, ended.reason) == (1, "HandlerNotFound")
    assert ended.message.endswith(message)
    assert f"sless: HandlerNotFound: {ended.message}" in ended.stderr


ADD = "Add left-pad to the dependencies in package.json."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import 'left-pad'", f"Error: Cannot find package 'left-pad'. {ADD}"),
        ("import 'left-pad/deep.js'", f"Error: Cannot find package 'left-pad'. {ADD}"),
        ("import '@a/b/c'", "package '@a/b'. Add @a/b to the dependencies in package.json."),
        (
            (
                "import { createRequire } from 'node:module';\n"
                "createRequire(import.meta.url)('left-pad')"
            ),
            f"Error: Cannot find package 'left-pad'. {ADD}",
        ),
        ("throw new TypeError('one\\ntwo')", "TypeError: one; two"),
        ("throw 'text'", "Thrown: 'text'"),
        ("throw null", "Thrown: null"),
        ("const a = (", "SyntaxError: Unexpected token 'export' (handler.mjs:2)"),
        ("import './part.cjs'", "SyntaxError: Unexpected token '}' (part.cjs:2)"),
        (
            "import { nope } from 'node:fs'",
            (
                "SyntaxError: The requested module 'node:fs' does not provide an export named "
                "'nope' (handler.mjs:1)"
            ),
        ),
        ("process.exit(0)", "The code called process.exit(0) while it was imported."),
        (
            "await new Promise(() => {})",
            "The code waits at its top level for something that never comes.",
        ),
        (
            "Promise.reject(new Error('left alone')); await import('node:dns/promises')",
            "Error: left alone",
        ),
        (
            "import fs from 'node:fs'; fs.readFileSync('absent')",
            "Error: ENOENT: no such file or directory, open 'absent'",
        ),
    ],
)
def test_an_import_that_fails_says_why(fail: Callable[..., Ended], text: str, message: str) -> None:
    handler = f"{text}\nexport const handler = () => 1;"
    ended = fail({"handler.mjs": handler, "part.cjs": "\n}"})
    assert (ended.code, ended.reason) == (1, "HandlerImportFailed")
    assert ended.message.endswith(message)
    assert f"sless: HandlerImportFailed: {ended.message}" in ended.stderr


def test_an_import_error_is_logged_with_the_functions_own_frames(
    fail: Callable[..., Ended],
) -> None:
    ended = fail({"handler.mjs": "import './part.mjs'\nexport default 1", "part.mjs": "null.x"})
    assert "part.mjs:1" in ended.stderr
    assert "_sless_runtime" not in ended.stderr
    assert "node:internal" not in ended.stderr


def test_a_taken_port_is_the_reason(prepare: Prepare) -> None:
    files = {"handler.mjs": FETCH.format(name="handler")}
    with prepare(files) as first:
        second = prepare(files, environ={"PORT": str(first.port)})
        second.start()
        ended = second.wait()
    assert ended.reason == "FunctionCrashed"
    assert ended.message == f"Port {first.port} on 127.0.0.1 cannot be had: Address already in use."


def test_code_that_takes_the_port_itself_is_told_so(fail: Callable[..., Ended]) -> None:
    handler = (
        "import { createServer } from 'node:http';\n"
        "const { PORT, HOST } = process.env;\n"
        "const server = createServer();\n"
        "await new Promise((settle) => server.listen(PORT, HOST, settle));\n"
        "export default (req, res) => res.end();"
    )
    ended = fail({"handler.mjs": handler})
    assert ended.reason == "FunctionCrashed"
    assert "The code listens by itself while it is imported: leave its listen()" in ended.message


@pytest.mark.parametrize("name", ["PORT", "SLESS_DRAIN_SECONDS"])
def test_a_setting_that_cannot_be_is_refused(fail: Callable[..., Ended], name: str) -> None:
    ended = fail({"handler.mjs": FETCH.format(name="handler")}, environ={name: "x"})
    assert ended.reason == "FunctionCrashed"
    assert ended.message.startswith(f"{name} is 'x'; it must be ")


def test_the_environment_is_the_functions(prepare: Prepare) -> None:
    handler = "export default () => process.env"
    own = {"SLESS_TOKEN": "the user's own", "SLESS_HANDLER": "handler:default", "A": "1"}
    with prepare({"handler.mjs": handler}, environ=own) as function:
        told = httpx.get(function.url).json()
    assert [name for name in told if name.startswith("SLESS_")] == ["SLESS_TOKEN"]
    assert told["PORT"] == str(function.port)
    assert (told["HOST"], told["A"], told["NODE_ENV"]) == ("127.0.0.1", "1", "production")
    assert told["PATH"].startswith(f"{function.code}/node_modules/.bin:")


def test_what_is_printed_is_in_the_log_at_once(prepare: Prepare) -> None:
    handler = "console.log('at import ü'); export default () => { console.log('called') }"
    with prepare({"handler.mjs": handler}) as function:
        assert function.log("stdout") == "at import ü\n"
        assert httpx.get(function.url).status_code == httpx.codes.NO_CONTENT
        assert function.log("stdout") == "at import ü\ncalled\n"
