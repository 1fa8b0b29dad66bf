import os
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from sless.errors import InternalError
from tests.component.cli.conftest import SLESS, Cli
from tests.component.cli.scripted_api import ScriptedApi, problem

LIST = "GET /v1/namespaces/default/functions"


def test_without_a_home_it_says_how_to_start_one(offline: Cli, tmp_path: Path) -> None:
    done = offline("list")
    assert (done.code, done.out) == (3, b"")
    assert done.err == (
        f"Error: No home is running on {tmp_path}/.local/share/sless: start one with `sless up`, "
        "or name a server with --server.\n"
    )
    named = offline("list", "--data", "my data")
    assert "start one with `sless up --data" in named.err
    assert "my data'`" in named.err


def test_a_server_on_this_machine_is_reached_past_a_proxy(sless: Cli) -> None:
    proxy = "http://127.0.0.1:9"
    assert sless("list", HTTP_PROXY=proxy, http_proxy=proxy, ALL_PROXY=proxy).code == 0


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (PlainTextResponse("<html>"), "answered something that is no JSON object"),
        (PlainTextResponse("[1, 2"), "answered something that is no JSON object"),
        (PlainTextResponse("[]"), "answered something that is no JSON object"),
        (PlainTextResponse("<html>", 502), "answered 502 Bad Gateway, as no sless server does"),
        (PlainTextResponse("{}", 404), "answered 404 Not Found, as no sless server does"),
        (RedirectResponse("/login"), "answered 307 Temporary Redirect"),
    ],
)
def test_a_stranger_is_told_apart(
    sless: Cli, api: ScriptedApi, *, answer: Response, says: str
) -> None:
    api.overrides[LIST] = lambda _: answer
    done = sless("list")
    assert (done.code, done.out) == (3, b"")
    assert says in done.err
    assert done.err.count("\n") == 1


def test_a_defect_of_the_server_names_the_request(sless: Cli, api: ScriptedApi) -> None:
    api.overrides[LIST] = lambda _: problem(InternalError("Something broke\n\x1b[2Jhere."))
    done = sless("list")
    assert done.code == 1
    assert done.err == "Error: Something broke here. (request r-1) [InternalError]\n"


def test_half_an_answer_is_a_broken_connection(sless: Cli, api: ScriptedApi) -> None:
    class Cut(Response):
        def init_headers(self, headers: object = None) -> None:
            del headers
            self.raw_headers = [(b"content-length", b"100")]

    def cut(_: Request) -> Response:
        return Cut(b"{")

    api.overrides[LIST] = cut
    done = sless("list")
    assert (done.code, done.err.count("\n")) == (3, 1)
    assert "broke" in done.err


@pytest.fixture
def tls_port(tmp_path: Path) -> Iterator[int]:
    """A TLS server whose certificate nobody vouches for."""
    words = (
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost"
    )
    subprocess.run(
        ["openssl", *words.split(), "-keyout", "k.pem", "-out", "c.pem"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "c.pem", tmp_path / "k.pem")
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with connection, pytest.raises(ssl.SSLError):
            context.wrap_socket(connection, server_side=True)

    thread = threading.Thread(target=serve)
    thread.start()
    yield listener.getsockname()[1]
    thread.join(10)
    listener.close()


def test_a_certificate_that_nobody_vouches_for(offline: Cli, tls_port: int) -> None:
    done = offline("list", "--server", f"https://localhost:{tls_port}")
    assert done.code == 3
    assert "TLS with https://localhost" in done.err
    assert "name its CA by SSL_CERT_FILE" in done.err


@pytest.mark.parametrize(
    "url", ["localhost:80", "ftp://x", "http://", "http://[::1", "https://x:y"]
)
def test_a_url_that_is_none(offline: Cli, url: str) -> None:
    done = offline("list", "--server", url)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "is no server's URL" in done.err


def test_a_full_disk_is_one_sentence(sless: Cli, api: ScriptedApi) -> None:
    api.ask("default", "a")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [SLESS, "list"], env=sless.env, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert b"No space left on device" in done.stderr


def test_a_reader_that_left_ends_it_quietly(sless: Cli, api: ScriptedApi) -> None:
    api.ask("default", "a")
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [SLESS, "list"], env=sless.env, stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


def test_streams_that_a_shell_closed_are_no_reason_to_fail(sless: Cli, api: ScriptedApi) -> None:
    api.ask("default", "a")
    command = f"{SLESS} list >&-; echo $?; {SLESS} delete a 2>&- <&-; echo $?; {SLESS} list 2>&-"
    done = subprocess.run(["sh", "-c", command], env=sless.env, capture_output=True, check=False)
    assert done.stderr == b""
    assert done.stdout.split()[:3] == [b"0", b"2", b"NAME"]


def test_ctrl_c_is_130(sless: Cli, api: ScriptedApi) -> None:
    api.ask("default", "hello", s3Key=f"functions/default/hello/{'0' * 64}-python3.11.zip")
    api.builds = [{"id": "0123456789ab"}]
    api.log_end = {"phase": ""}
    api.cut_after = 1
    api.log = [(str(number), f"{number}\n") for number in range(10_000)]
    command = sless.start("logs", "hello", "-f")
    assert command.stdout is not None
    command.stdout.readline()
    command.send_signal(signal.SIGINT)
    _, err = command.communicate(timeout=10)
    assert command.returncode == 130
    assert b"Traceback" not in err


def test_debug_shows_the_traceback(offline: Cli) -> None:
    assert "Traceback" in offline("list", "--debug").err
    assert "Traceback" in offline("list", SLESS_DEBUG="1").err
    assert "Traceback" not in offline("list").err


def test_ctrl_c_while_it_still_imports_is_one_sentence(offline: Cli, tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\n")
    done = offline("list", PYTHONPATH=str(tmp_path))
    assert (done.code, done.err) == (130, "Error: Interrupted.\n")
