"""How a function is found, and what its author reads when it is not."""

from collections.abc import Callable, Mapping

import httpx
import pytest

from tests.component.runtime.conftest import Prepare
from tests.component.runtime.function_process import Ended

pytestmark = pytest.mark.real

ASYNC_APP = """
async def {name}(scope, receive, send):
    await send({{"type": "http.response.start", "status": 200, "headers": []}})
    await send({{"type": "http.response.body", "body": b"asgi"}})
"""
WSGI_APP = """
def {name}(environ, start_response):
    start_response("200 OK", [])
    return [b"wsgi"]
"""
HANDLER = "def {name}(request): return 'handler'"


@pytest.mark.parametrize(
    ("files", "environ", "answer"),
    [
        ({"handler.py": HANDLER.format(name="handler")}, {}, "handler"),
        ({"main.py": ASYNC_APP.format(name="app")}, {}, "asgi"),
        ({"app.py": WSGI_APP.format(name="app")}, {}, "wsgi"),
        (
            {
                "wsgi.py": "from deep.er import application",
                "deep/er.py": WSGI_APP.format(name="application"),
            },
            {},
            "wsgi",
        ),
        ({"handler/__init__.py": HANDLER.format(name="handler")}, {}, "handler"),
        ({"app.py": HANDLER.format(name="create")}, {"SLESS_HANDLER": "app:create"}, "handler"),
        (
            {"pkg/part.py": "class A:\n  def go(self, request): return 'handler'\na = A()"},
            {"SLESS_HANDLER": "pkg.part:a.go"},
            "handler",
        ),
        (
            {"Procfile": "web: false", "main.py": HANDLER.format(name="go")},
            {"SLESS_HANDLER": "main:go"},
            "handler",
        ),
        ({"Procfile": "release: x\n", "handler.py": HANDLER.format(name="handler")}, {}, "handler"),
    ],
)
def test_a_function_is_found(
    prepare: Prepare, files: Mapping[str, str], environ: Mapping[str, str], answer: str
) -> None:
    with prepare(files, environ=environ) as function:
        assert httpx.get(function.url).text == answer


@pytest.mark.parametrize(
    ("files", "handler", "reason", "message"),
    [
        (
            {"app.py": "def create(): ...\nmain = create()\nclass A: ...\n_b = create()"},
            "",
            "HandlerNotFound",
            (
                "No handler was found. Looked for handler:handler, handler:app, main:app, "
                "main:handler, app:app, app:handler, asgi:app, asgi:application, wsgi:app, "
                "wsgi:application, and a Procfile. app.py offers: create, main. Name one with "
                "--handler module:attribute, for example --handler app:create."
            ),
        ),
        (
            {"src/api.py": ""},
            "",
            "HandlerNotFound",
            (
                "and a Procfile. The code has no Python file at its top. Below there is "
                "src/api.py, which is named as --handler src.api:attribute."
            ),
        ),
        (
            {"Procfile": "worker: x"},
            "",
            "HandlerNotFound",
            "and a web line in the Procfile. The code has no Python file at its top.",
        ),
        (
            {"main.py": HANDLER.format(name="handle")},
            "main:handel",
            "HandlerNotFound",
            "main has no 'handel'. Did you mean 'handle'? main.py offers: handle.",
        ),
        (
            {"main.py": HANDLER.format(name="handle")},
            "mian:handle",
            "HandlerNotFound",
            "There is no module 'mian' in the code. main.py offers: handle.",
        ),
        (
            {"main/__init__.py": ""},
            "main.sub:handle",
            "HandlerNotFound",
            "There is no module 'main.sub' in the code. main/__init__.py offers nothing callable.",
        ),
        (
            {"main.py": "a = 1"},
            "main:a",
            "HandlerNotFound",
            "main:a is of type int, which nobody can call.",
        ),
        (
            {"handler.py": "def handler(event, context): ..."},
            "",
            "HandlerNotFound",
            "handler:handler takes event, context; a handler takes one argument, the request.",
        ),
        (
            {"handler.py": "import requests\ndef handler(request): ..."},
            "",
            "HandlerImportFailed",
            "ModuleNotFoundError: No module named 'requests'. Add requests to requirements.txt.",
        ),
        (
            {"handler.py": "from PIL import Image\ndef handler(request): ..."},
            "",
            "HandlerImportFailed",
            "ModuleNotFoundError: No module named 'PIL'. Add Pillow to requirements.txt.",
        ),
        (
            {"handler.py": "import own.gone\ndef handler(request): ...", "own/__init__.py": ""},
            "",
            "HandlerImportFailed",
            "ModuleNotFoundError: No module named 'own.gone'",
        ),
        (
            {"handler.py": "def handler(request):\n    return {"},
            "",
            "HandlerImportFailed",
            "SyntaxError: '{' was never closed (handler.py, line 2)",
        ),
        (
            {"handler.py": "raise ValueError('one\\ntwo')\ndef handler(request): ..."},
            "",
            "HandlerImportFailed",
            "ValueError: one; two",
        ),
        (
            {"handler.py": "import sys\nsys.exit(3)\ndef handler(request): ..."},
            "",
            "HandlerImportFailed",
            "handler called sys.exit(3) while it was imported.",
        ),
        (
            {"handler.py": "open('absent.json')\ndef handler(request): ..."},
            "",
            "HandlerImportFailed",
            "FileNotFoundError: [Errno 2] No such file or directory: 'absent.json'",
        ),
        (
            {"queue.py": "def handler(request): ..."},
            "queue:handler",
            "HandlerNotFound",
            "queue.py is hidden by Python's own; rename it.",
        ),
    ],
)
def test_a_function_that_does_not_start_says_why(
    fail: Callable[..., Ended], files: Mapping[str, str], handler: str, reason: str, message: str
) -> None:
    ended = fail(files, environ={"SLESS_HANDLER": handler})
    assert (ended.code, ended.reason) == (1, reason)
    assert ended.message.endswith(message)
    assert f"sless: {reason}: {ended.message}" in ended.stderr


def test_an_import_error_is_logged_with_the_functions_own_frames(
    fail: Callable[..., Ended],
) -> None:
    files = {"handler.py": "import part\ndef handler(request): ...", "part.py": "1 / 0"}
    ended = fail(files)
    assert ended.message == "ZeroDivisionError: division by zero"
    assert 'handler.py", line 1' in ended.stderr
    assert 'part.py", line 1' in ended.stderr
    assert "_sless_runtime" not in ended.stderr


def test_a_lifespan_that_fails_is_the_reason(fail: Callable[..., Ended]) -> None:
    app = """
async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        why = "Traceback:\\nOSError: no database"
        await send({"type": "lifespan.startup.failed", "message": why})
"""
    ended = fail({"main.py": app})
    assert ended.reason == "FunctionCrashed"
    assert ended.message == "The app's startup failed: OSError: no database"


def test_a_taken_port_is_the_reason(prepare: Prepare) -> None:
    files = {"handler.py": HANDLER.format(name="handler")}
    with prepare(files) as first:
        second = prepare(files, environ={"PORT": str(first.port)})
        second.start()
        ended = second.wait()
    assert ended.reason == "FunctionCrashed"
    assert ended.message == f"Port {first.port} on 127.0.0.1 cannot be had: Address already in use."


def test_a_hidden_module_is_warned_of(prepare: Prepare) -> None:
    with prepare({"handler.py": HANDLER.format(name="handler"), "queue.py": ""}) as function:
        assert "queue.py is hidden by Python's own module 'queue'" in function.log("stderr")
        assert "handler.py" not in function.log("stderr")


def test_the_environment_is_the_functions(prepare: Prepare) -> None:
    handler = "import os\ndef handler(request): return dict(os.environ)"
    own = {"SLESS_TOKEN": "the user's own", "SLESS_HANDLER": "handler:handler", "A": "1"}
    with prepare({"handler.py": handler}, environ=own) as function:
        told = httpx.get(function.url).json()
    assert [name for name in told if name.startswith("SLESS_")] == ["SLESS_TOKEN"]
    assert told["PORT"] == str(function.port)
    assert (told["HOST"], told["A"]) == ("127.0.0.1", "1")


def test_what_is_printed_is_in_the_log_at_once(prepare: Prepare) -> None:
    handler = "print('at import ü')\ndef handler(request): print('in a call'); return 'x'"
    with prepare({"handler.py": handler}) as function:
        assert function.log("stdout") == "at import ü\n"
        httpx.get(function.url)
        assert function.log("stdout") == "at import ü\nin a call\n"
