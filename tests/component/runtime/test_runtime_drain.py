"""A function that is asked to stop finishes what it has begun."""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.component.runtime.conftest import Prepare
from tests.component.runtime.function_process import FunctionProcess, wait_until

pytestmark = pytest.mark.real

HANDLER = """
import pathlib, time
def begun(request):
    pathlib.Path("begun").touch()
    while not pathlib.Path("go").exists():
        time.sleep(0.01)
def handler(request):
    if request.path == "/stream":
        def pieces():
            yield "first "
            begun(request)
            yield "last"
        return pieces()
    begun(request)
    return "finished"
"""
ASYNC = """
import asyncio, pathlib
async def handler(request):
    pathlib.Path("begun").touch()
    while not pathlib.Path("go").exists():
        await asyncio.sleep(0.01)
    return "finished"
"""


def refuses(function: FunctionProcess) -> bool:
    try:
        httpx.get(f"{function.url}/_/ready", timeout=1)
    except httpx.TransportError:
        return True
    return False


@pytest.mark.parametrize(
    ("handler", "path", "answer"),
    [
        (HANDLER, "/", "finished"),
        (HANDLER, "/stream", "first last"),
        (ASYNC, "/", "finished"),
    ],
)
def test_a_running_request_is_finished(
    prepare: Prepare, handler: str, path: str, answer: str
) -> None:
    with prepare({"handler.py": handler}) as function, ThreadPoolExecutor(1) as pool:
        running = pool.submit(httpx.get, f"{function.url}{path}", timeout=20)
        wait_until((function.code / "begun").exists)
        function.terminate()
        wait_until(lambda: refuses(function))
        assert not running.done()
        (function.code / "go").touch()
        assert running.result().text == answer
        assert function.wait().code == 0


@pytest.mark.parametrize("handler", [HANDLER, ASYNC], ids=["sync", "async"])
def test_what_takes_too_long_is_cut(prepare: Prepare, handler: str) -> None:
    drain = {"SLESS_DRAIN_SECONDS": "0.3"}
    with prepare({"handler.py": handler}, environ=drain) as function, ThreadPoolExecutor(1) as pool:
        running = pool.submit(httpx.get, function.url, timeout=20)
        wait_until((function.code / "begun").exists)
        function.terminate()
        answer = running.result()
        assert (answer.status_code, answer.text) == (503, "The function is shutting down.\n")
        assert function.wait().code == 0


def test_an_idle_connection_does_not_hold_up_the_end(prepare: Prepare) -> None:
    with (
        prepare({"handler.py": "def handler(request): ..."}) as function,
        httpx.Client(base_url=function.url) as client,
    ):
        client.get("/")
        began = time.monotonic()
        function.terminate()
        assert function.wait().code == 0
        assert time.monotonic() - began < 5  # not the ten seconds of the drain


def test_a_function_that_is_still_importing_stops_at_once(prepare: Prepare) -> None:
    handler = "import pathlib, time\npathlib.Path('begun').touch()\ntime.sleep(60)"
    process = prepare({"handler.py": f"{handler}\ndef handler(request): ..."})
    process.start()
    wait_until((process.code / "begun").exists)
    process.terminate()
    assert process.wait().code == 0


def test_threads_of_the_function_do_not_keep_the_process(prepare: Prepare) -> None:
    handler = """
import threading
threading.Thread(target=threading.Event().wait).start()
def handler(request): ...
"""
    with prepare({"handler.py": handler}) as function:
        function.terminate()
        ended = function.wait()
    assert ended.code == 0
    assert "sless: still busy after the drain; leaving." in ended.stderr
