"""Build contexts of small functions, served over HTTP as S3 serves them by a presigned URL."""

import contextlib
import io
import socket
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from sless.archive import DEFAULT_RUNTIMES, Runtime, prepare_context
from sless.runtime import runtime_files

HELLO = "def handler(request):\n    return 'hello'\n"
"""A handler without dependencies."""


def write_context(
    files: Mapping[str, str | bytes],
    folder: Path,
    *,
    runtime: str = "python3.11",
    runtimes: Mapping[str, Runtime] = DEFAULT_RUNTIMES,
) -> str:
    """Puts the context of those files to `<folder>/<sha256>`, and returns the sha256."""
    packed, out = folder / "upload.zip", folder / "context.tar.gz"
    with zipfile.ZipFile(packed, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    launcher = runtime_files(runtimes[runtime].language)
    context = prepare_context(packed, runtime, out, extra_files=launcher, runtimes=runtimes)
    out.rename(folder / context.sha256)
    return context.sha256


IN_TREE = """[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
"""A pyproject.toml whose build runs `backend.py` and installs nothing before."""


def make_sdist(name: str, files: Mapping[str, str], folder: Path) -> None:
    """A source distribution of version 1.0, in a folder that serves as `--find-links`."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(folder / f"{name}-1.0.tar.gz", "w:gz") as archive:
        for path, text in files.items():
            info = tarfile.TarInfo(f"{name}-1.0/{path}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))


@contextlib.contextmanager
def serving(folder: Path, *, host: str = "127.0.0.1") -> Iterator[str]:
    """Serves a folder on a free port; its URL without a slash at the end."""
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer((host, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://{host}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def silence(*, host: str = "127.0.0.1") -> Iterator[str]:
    """The URL of a server that takes connections and never answers."""
    with socket.create_server((host, 0), backlog=64) as server:
        yield f"http://{host}:{server.getsockname()[1]}"


@contextlib.contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """The URL of a server that says those bytes to one caller, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_answer_once, args=(server, answer))
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join()


def _answer_once(server: socket.socket, answer: bytes) -> None:
    caller, _ = server.accept()
    with caller:
        caller.recv(64 * 1024)
        caller.sendall(answer)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Says nothing."""
