"""A Node function that is asked to stop finishes what it has begun."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.component.runtime.conftest import Prepare
from tests.component.runtime.function_process import FunctionProcess, wait_until

pytestmark = pytest.mark.real

HANDLER = """
import { existsSync, writeFileSync } from "node:fs";
const passed = async () => {
  writeFileSync("begun", "");
  while (!existsSync("go")) await new Promise((settle) => setTimeout(settle, 10));
};
process.on("exit", () => console.log("exit handler"));
export default async (request) => {
  if (new URL(request.url).pathname !== "/stream") {
    await passed();
    return "finished";
  }
  return (async function* () { yield "first "; await passed(); yield "last"; })();
};
"""


def refuses(function: FunctionProcess) -> bool:
    try:
        httpx.get(f"{function.url}/_/health", timeout=1)
    except httpx.TransportError:
        return True
    return False


@pytest.mark.parametrize(("path", "answer"), [("/", "finished"), ("/stream", "first last")])
def test_a_running_request_is_finished(prepare: Prepare, path: str, answer: str) -> None:
    with prepare({"handler.mjs": HANDLER}) as function, ThreadPoolExecutor(1) as pool:
        running = pool.submit(httpx.get, f"{function.url}{path}", timeout=20)
        wait_until((function.code / "begun").exists)
        function.terminate()
        wait_until(lambda: refuses(function))
        (function.code / "go").touch()
        assert running.result().text == answer
        ended = function.wait()
    assert ended.code == 0
    assert ended.stdout == "exit handler\n"


def test_a_connection_that_is_kept_sees_the_drain(prepare: Prepare) -> None:
    with (
        prepare({"handler.mjs": HANDLER}) as function,
        ThreadPoolExecutor(1) as pool,
        httpx.Client(base_url=function.url) as kept,
    ):
        assert kept.get("/_/ready").status_code == httpx.codes.OK
        running = pool.submit(httpx.get, function.url, timeout=20)
        wait_until((function.code / "begun").exists)
        function.terminate()
        wait_until(lambda: refuses(function))
        with pytest.raises(httpx.TransportError):
            kept.get("/_/ready")
        (function.code / "go").touch()
        assert running.result().headers["connection"] == "close"


def test_what_does_not_end_in_time_is_given_up(prepare: Prepare) -> None:
    environ = {"SLESS_DRAIN_SECONDS": "0.3"}
    with prepare({"handler.mjs": HANDLER}, environ=environ) as function:
        with ThreadPoolExecutor(1) as pool:
            whole = pool.submit(httpx.get, function.url, timeout=20)
            wait_until((function.code / "begun").exists)
            with httpx.stream("GET", f"{function.url}/stream", timeout=20) as begun:
                pieces = begun.iter_text()
                assert next(pieces) == "first "
                function.terminate()
                answer = whole.result()
                with pytest.raises(httpx.TransportError):
                    list(pieces)
        assert (answer.status_code, answer.text) == (503, "The function is shutting down.\n")
        assert function.wait().code == 0


def test_an_idle_function_leaves_at_once(prepare: Prepare) -> None:
    with prepare({"handler.mjs": HANDLER}) as function, httpx.Client() as kept:
        kept.get(f"{function.url}/_/ready")
        function.terminate()
        assert function.wait().code == 0


def test_a_function_that_is_still_starting_leaves_too(prepare: Prepare) -> None:
    handler = (
        "console.log('begun'); await new Promise((s) => setTimeout(s, 60000)); export default 1"
    )
    function = prepare({"handler.mjs": handler})
    function.start()
    wait_until(lambda: function.log("stdout") == "begun\n")
    function.terminate()
    ended = function.wait()
    assert (ended.code, ended.reason) == (0, "")


def test_a_function_that_cannot_be_stopped_is_left(prepare: Prepare) -> None:
    handler = """
    import { writeFileSync } from "node:fs";
    process.on("SIGTERM", () => setInterval(() => {}, 1000));
    export const app = {
      fetch() { writeFileSync("begun", ""); return new Promise(() => {}); },
      close: () => new Promise(() => {}),
    };
    """
    environ = {"SLESS_DRAIN_SECONDS": "0.1"}
    with prepare({"app.mjs": handler}, environ=environ) as function, ThreadPoolExecutor(1) as pool:
        running = pool.submit(httpx.get, function.url, timeout=20)
        wait_until((function.code / "begun").exists)
        function.terminate()
        assert running.result().status_code == httpx.codes.SERVICE_UNAVAILABLE
        assert function.wait().code == 0
