"""Every example's whole life, in any home: A, B, back to A, broken, deleted."""

import shutil
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.e2e.any_home import AnyHome
from tests.e2e.running import wait_until

EXAMPLES = Path(__file__).parents[2] / "examples"
GONE_SECONDS = 60
"""Until a cluster has collected what a Function owned; at home it takes a moment."""


@dataclass(frozen=True)
class Example:
    """One example, how it is used, what changes it and what breaks it."""

    name: str
    use: Callable[[AnyHome, str], str]
    """Calls it by its path below `/fn/`; what it says of its version."""
    file: str
    old: str
    new: str
    """Replaces `old` in `file`: version B."""
    first: str
    second: str
    """What `use` tells of versions A and B."""
    broken_file: str
    broken: str
    """The content of a file that breaks it."""
    reason: str
    said: str
    """What a person must be told of the breakage."""


def greet(home: AnyHome, path: str) -> str:
    return str(home.call(path, params={"name": "you"}).raise_for_status().json()["message"])


def shrink(home: AnyHome, path: str) -> str:
    answer = home.call(path, method="POST", content=png(300, 200)).raise_for_status()
    width, height = struct.unpack(">II", answer.content[16:24])
    return f"{answer.headers['content-type']} {width}x{height}"


def order(home: AnyHome, path: str) -> str:
    lines = [{"article": "nut", "pieces": 3, "price": "0.20"}]
    refused = home.call(f"{path}total", method="POST", json={"lines": []})
    assert refused.status_code == httpx.codes.UNPROCESSABLE_ENTITY
    answer = home.call(f"{path}total", method="POST", json={"lines": lines})
    return str(answer.raise_for_status().json()["total"])


def read(home: AnyHome, path: str) -> str:
    return home.call(f"{path}deep/?q=1").raise_for_status().text.strip()


def render(home: AnyHome, path: str) -> str:
    assert home.call(path).status_code == httpx.codes.METHOD_NOT_ALLOWED
    page = home.call(f"{path}?title=a%3Cb", method="POST", content=b"x").raise_for_status()
    assert page.text.startswith("<!doctype html>\n<title>a&lt;b</title>")
    answer = home.call(path, method="POST", content=b"# one\n\n*two*\nthree").raise_for_status()
    return answer.text.replace("\n", " ").strip()


def png(width: int, height: int) -> bytes:
    """A grey image."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x80" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


ALL = [
    Example(
        name="hello",
        use=greet,
        file="handler.py",
        old="Hello",
        new="Goodbye",
        first="Hello, you!",
        second="Goodbye, you!",
        broken_file="handler.py",
        broken="raise RuntimeError('out of luck')\n\n\ndef handler(request): ...\n",
        reason="HandlerImportFailed",
        said="RuntimeError: out of luck",
    ),
    Example(
        name="thumbnail",
        use=shrink,
        file="handler.py",
        old='"size", "128"',
        new='"size", "64"',
        first="image/png 128x85",
        second="image/png 64x43",
        broken_file="requirements.txt",
        broken="Pillow==0.0.0.1\n",
        reason="DependencyInstallFailed",
        said="pillow",
    ),
    Example(
        name="fastapi-app",
        use=order,
        file="main.py",
        old="sum((line.pieces * line.price",
        new="sum((2 * line.pieces * line.price",
        first="0.60",
        second="1.20",
        broken_file="main.py",
        broken="import no_module_of_that_name\napp = None\n",
        reason="HandlerImportFailed",
        said="No module named 'no_module_of_that_name'",
    ),
    Example(
        name="any-server",
        use=read,
        file="server.py",
        old="Hello from",
        new="Greetings from",
        first="Hello from a server of its own, at /deep/?q=1",
        second="Greetings from a server of its own, at /deep/?q=1",
        broken_file="Procfile",
        broken="web: python no_such_server.py\n",
        reason="FunctionCrashed",
        said="no_such_server.py",
    ),
    Example(
        name="markdown-node",
        use=render,
        file="index.js",
        old="marked.parse(await request.text())",
        new="marked.parse(await request.text(), { breaks: true })",
        first="<h1>one</h1> <p><em>two</em> three</p>",
        second="<h1>one</h1> <p><em>two</em><br>three</p>",
        broken_file="package.json",
        broken='{"type": "module", "dependencies": {"marked": "14.1.4"}}\n',
        reason="DependencyInstallFailed",
        said="lock file's marked@15.0.12 does not satisfy marked@14.1.4",
    ),
]


def live(home: AnyHome, folder: Path, example: Example) -> None:
    """Deploys it, changes it, takes that back, breaks it and deletes it, as a person would."""
    name = f"life-{example.name}"
    path = f"{home.namespace}/{name}/"
    shutil.copytree(EXAMPLES / example.name, folder)

    url = home.done("deploy", str(folder), "--name", name).strip()
    assert url == f"{home.gateway}/fn/{path}"
    assert example.use(home, path) == example.first
    first = newest_build(home, name)

    edited = folder / example.file
    source = edited.read_text()
    assert example.old in source
    edited.write_text(source.replace(example.old, example.new))
    home.done("deploy", str(folder), "--name", name)
    assert example.use(home, path) == example.second
    assert newest_build(home, name) != first

    home.done("rollback", name, first)
    assert example.use(home, path) == example.first
    assert home.json("get", name)["status"]["build"] == first

    (folder / example.broken_file).write_text(example.broken)
    failed = home.sless("deploy", str(folder), "--name", name)
    assert failed.returncode == 1, failed.stderr
    assert example.reason in failed.stderr
    assert example.said in failed.stderr
    assert "Traceback" not in failed.stderr.splitlines()[-1]
    assert example.use(home, path) == example.first, "the last good one goes on answering"
    status = home.json("get", name)["status"]
    assert (status["phase"], status["reason"]) == ("Failed", example.reason)

    home.done("delete", name, "--yes")
    assert home.sless("get", name).returncode == 1
    # The route goes after the Function.
    wait_until(
        lambda: home.call(path).status_code == httpx.codes.NOT_FOUND,
        within=GONE_SECONDS,
        what=lambda: f"{path} is unknown: {home.call(path).status_code}",
    )


def newest_build(home: AnyHome, name: str) -> str:
    """Its id."""
    return str(home.json("builds", name)["items"][0]["id"])
