"""The runtime's modules and the function's do not meet."""

import json
import socket
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest
import websockets.sync.client

from tests.component.runtime.conftest import Install, Prepare
from tests.component.runtime.function_process import write_files

pytestmark = pytest.mark.real

OWN = ("click", "h11", "uvicorn", "websockets")
TELL = """
import importlib.metadata, sys
def versions():
    import click, h11, uvicorn, websockets
    return {m.__name__: m.__version__ for m in (click, h11, uvicorn, websockets)}
def handler(request):
    return {
        "versions": versions(),
        "files": {n: sys.modules[n].__file__ for n in versions()},
        "installed": sorted(d.name for d in importlib.metadata.distributions()),
    }
"""


def fake_packages(version: str) -> Mapping[str, str]:
    """Packages that are called like the runtime's own, and nothing like them."""
    files = {f"{name}/__init__.py": f"__version__ = {version!r}" for name in OWN}
    for name in OWN:
        files[f"{name}-{version}.dist-info/METADATA"] = f"Name: {name}\nVersion: {version}\n"
    return files


def test_the_functions_packages_are_its_own(prepare: Prepare, tmp_path: Path) -> None:
    site = write_files(tmp_path, fake_packages("0.0.1"))
    with prepare({"handler.py": TELL}, site=site) as function:
        told = httpx.get(function.url).json()
    assert told["versions"] == dict.fromkeys(OWN, "0.0.1")
    assert told["installed"] == sorted(OWN)


def test_modules_in_the_code_named_like_the_runtimes_are_the_functions(prepare: Prepare) -> None:
    names = [*OWN, "server", "launch", "start", "request", "wsgi"]
    files = {f"{name}.py": f"__version__ = {name!r}" for name in names}
    handler = f"""
import importlib
def handler(request):
    return [importlib.import_module(name).__version__ for name in {names}]
"""
    with prepare({**files, "handler.py": handler}) as function:
        assert httpx.get(function.url).json() == names


def test_a_function_sees_nothing_that_it_did_not_bring(prepare: Prepare) -> None:
    """Neither the runtime's packages nor those of the interpreter's environment, nor ours."""
    handler = """
import importlib.metadata, sys
def missing(name):
    try: __import__(name)
    except ModuleNotFoundError: return True
def handler(request):
    names = ["uvicorn", "h11", "click", "websockets", "_sless_runtime", "launch", "sless", "pytest"]
    return {
        "missing": all(missing(name) for name in names),
        "loaded": [n for n in sys.modules if n.partition(".")[0] in names],
        "installed": len(list(importlib.metadata.distributions())),
        "path": sys.path,
    }
"""
    with prepare({"handler.py": handler}) as function:
        for _ in range(3):  # nothing is imported late either
            told = httpx.get(function.url).json()
    assert told["missing"]
    assert told["loaded"] == []
    assert told["installed"] == 0
    assert told["path"][0] == str(function.code)
    assert not [entry for entry in told["path"] if "site" in Path(entry).name]


def test_an_older_h11_is_used_by_the_function_and_not_by_the_server(
    prepare: Prepare, install: Install
) -> None:
    site = install("h11==0.14.0", "click==8.1.7", "uvicorn==0.30.0", "websockets==12.0")
    with prepare({"handler.py": TELL}, site=site) as function:
        told = httpx.get(function.url).json()
    assert told["versions"] == {
        "h11": "0.14.0",
        "click": "8.1.7",
        "uvicorn": "0.30.0",
        "websockets": "12.0",
    }
    assert all(path.startswith(str(site)) for path in told["files"].values())


def test_websockets_and_broken_requests_are_served_beside_fake_packages(
    prepare: Prepare, tmp_path: Path
) -> None:
    """The paths through the server that a plain request does not take."""
    app = """
import click, h11, uvicorn, websockets
async def app(scope, receive, send):
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        message = await receive()
        await send({"type": "websocket.send", "text": message["text"] + h11.__version__})
        await send({"type": "websocket.close", "code": 4001, "reason": "enough"})
"""
    site = write_files(tmp_path, fake_packages("0.0.1"))
    with prepare({"main.py": app}, site=site) as function:
        with websockets.sync.client.connect(f"ws://127.0.0.1:{function.port}/") as talk:
            talk.send("h11 ")
            assert talk.recv() == "h11 0.0.1"
            with pytest.raises(websockets.exceptions.ConnectionClosedError) as closed:
                talk.recv()
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4001, "enough")
        with socket.create_connection(("127.0.0.1", function.port), timeout=20) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost : spaced\r\n\r\n")
            assert connection.recv(4096).startswith(b"HTTP/1.1 400 ")
        function.terminate()
        assert function.wait().code == 0


def test_pth_files_of_the_functions_packages_are_honoured(prepare: Prepare, tmp_path: Path) -> None:
    site = write_files(tmp_path, {"extra.pth": "hidden\n", "hidden/deep.py": "value = 'seen'"})
    handler = "import deep\ndef handler(request): return deep.value"
    with prepare({"handler.py": handler}, site=site) as function:
        assert httpx.get(function.url).text == "seen"


def test_child_processes_find_code_and_packages(prepare: Prepare, tmp_path: Path) -> None:
    handler = """
import json, multiprocessing, subprocess, sys
from concurrent.futures import ProcessPoolExecutor
import brought
def double(number): return number * brought.factor
def handler(request):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        pooled = pool.submit(double, 21).result()
    tool = subprocess.run([sys.executable, "-m", "tool"], capture_output=True, text=True)
    return [pooled, tool.stdout + tool.stderr]
"""
    site = write_files(tmp_path, {"brought.py": "factor = 2"})
    files = {"handler.py": handler, "tool.py": "import brought; print(brought.factor, end='')"}
    with prepare(files, site=site) as function:
        assert httpx.get(function.url, timeout=20).json() == [42, "2"]


def test_the_users_pythonpath_is_kept(prepare: Prepare) -> None:
    files = {
        "handler.py": "import v\ndef handler(request): return v.value",
        "vendor/v.py": "value = 'v'",
    }
    with prepare(files, environ={"PYTHONPATH": "vendor", "WEB_CONCURRENCY": "auto"}) as function:
        assert httpx.get(function.url).text == "v"


def test_the_termination_log_is_one_line_of_json(prepare: Prepare) -> None:
    process = prepare({"handler.py": "raise ValueError('x' * 5000)\ndef handler(r): ..."})
    process.start()
    process.wait()
    text = (process.folder / "termination").read_text()
    assert text.count("\n") == 1
    assert set(json.loads(text)) == {"reason", "message"}
    assert len(text) < 4096
