"""`(req, res)` functions, and the frameworks that people bring."""

from pathlib import Path

import httpx
import pytest

from tests.component.runtime.conftest import Prepare
from tests.component.runtime.function_process import FunctionProcess

pytestmark = pytest.mark.real

LISTENER = """
const routes = {
  "/": (req, res) => res.end(`${req.method} ${req.url}`),
  "/later": (req, res) => setTimeout(() => res.end("later"), 20),
  "/throw": () => { throw new Error("thrown"); },
  "/reject": async () => { throw new Error("rejected"); },
  "/begun": (req, res) => { res.write("begun"); setTimeout(() => { throw new Error("x"); }, 20); },
  "/headers": (req, res) => { res.setHeader("x-left", "1"); throw new Error("with headers"); },
  "/lambda": async () => ({ statusCode: 200, body: "mistaken" }),
  "/response": async () => new Response("mistaken"),
};
module.exports = (req, res) => routes[req.url.split("?")[0]](req, res);
"""


@pytest.fixture(scope="module")
def listener(run: Prepare) -> FunctionProcess:
    return run({"handler.cjs": LISTENER})


def test_two_arguments_are_called_as_node_does(listener: FunctionProcess) -> None:
    assert httpx.get(f"{listener.url}/?q=1").text == "GET /?q=1"
    assert httpx.get(f"{listener.url}/later").text == "later"


@pytest.mark.parametrize("path", ["throw", "reject", "headers", "response", "lambda"])
def test_an_error_is_a_500(listener: FunctionProcess, path: str) -> None:
    answer = httpx.get(f"{listener.url}/{path}")
    assert answer.status_code == httpx.codes.INTERNAL_SERVER_ERROR
    assert "x-left" not in answer.headers
    assert httpx.get(listener.url).status_code == httpx.codes.OK


def test_an_error_after_the_beginning_cuts_the_answer(listener: FunctionProcess) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(f"{listener.url}/begun")
    assert httpx.get(listener.url).status_code == httpx.codes.OK


@pytest.mark.parametrize(
    ("path", "kind"), [("response", "a Response"), ("lambda", "what AWS Lambda has it return")]
)
def test_a_function_of_two_that_returns_its_answer_is_told_what_to_do(
    listener: FunctionProcess, path: str, kind: str
) -> None:
    httpx.get(f"{listener.url}/{path}")
    assert (
        "TypeError: handler:default takes two arguments, so it was called as (req, res), and "
        f"returned {kind}; take one argument, the Request, or export an object with a fetch "
        "method."
    ) in listener.log("stderr")


APPS = {
    "express": """
        import express from "express";
        export const app = express();
        app.use(express.json());
        app.post("/echo", (req, res) => res.json({ got: req.body }));
        app.get("/throw", async () => { throw new Error("in express"); });
    """,
    "koa": """
        import Koa from "koa";
        export const app = new Koa();
        app.silent = true;
        app.use(async (ctx) => {
          if (ctx.path === "/throw") throw new Error("in koa");
          let text = "";
          for await (const piece of ctx.req) text += piece;
          ctx.body = { got: JSON.parse(text) };
        });
    """,
    "fastify": """
        import Fastify from "fastify";
        import { appendFileSync } from "node:fs";
        export const app = Fastify();
        app.addHook("onClose", async () => appendFileSync("../closed", "closed"));
        app.post("/echo", async (request) => ({ got: request.body }));
        app.get("/throw", async () => { throw new Error("in fastify"); });
    """,
    "hono": """
        import { Hono } from "hono";
        export const app = new Hono();
        app.post("/echo", async (c) => c.json({ got: await c.req.json() }));
        app.get("/throw", () => { throw new Error("in hono"); });
    """,
    "http": """
        import { createServer } from "node:http";
        export const app = createServer(async (req, res) => {
          if (req.url === "/throw") return res.writeHead(500).end();
          let text = "";
          for await (const piece of req) text += piece;
          res.end(JSON.stringify({ got: JSON.parse(text) }));
        });
    """,
}


@pytest.mark.parametrize("name", APPS)
def test_a_framework_is_served(prepare: Prepare, modules: Path, name: str) -> None:
    process = prepare({"app.mjs": APPS[name]})
    (process.code / "node_modules").symlink_to(modules)
    with process as function:
        assert httpx.post(f"{function.url}/echo", json={"a": 1}).json() == {"got": {"a": 1}}
        answer = httpx.get(f"{function.url}/throw")
        assert answer.status_code == httpx.codes.INTERNAL_SERVER_ERROR
        function.terminate()
        assert function.wait().code == 0
    assert (process.folder / "closed").exists() == (name == "fastify")


def test_a_framework_that_does_not_come_up_is_the_reason(prepare: Prepare, modules: Path) -> None:
    app = """
        import Fastify from "fastify";
        export const app = Fastify();
        app.register(async () => { throw new Error("no database"); });
    """
    process = prepare({"app.mjs": app})
    (process.code / "node_modules").symlink_to(modules)
    process.start()
    ended = process.wait()
    assert (ended.code, ended.reason) == (1, "FunctionCrashed")
    assert ended.message == "The app's startup failed: Error: no database"


def test_an_upgrade_reaches_a_server(prepare: Prepare) -> None:
    app = """
        import { createServer } from "node:http";
        export default createServer().on("upgrade", (req, socket) => {
          socket.end("HTTP/1.1 418 Upgraded\\r\\nContent-Length: 0\\r\\n\\r\\n");
        });
    """
    with prepare({"app.mjs": app}) as function:
        headers = {"connection": "upgrade", "upgrade": "websocket"}
        assert httpx.get(function.url, headers=headers).status_code == 418
