"""`sless invoke`: a call through the gateway, as any client makes it."""

import base64
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from sless.cli.command import ServerCommand
from sless.cli.exits import Exit, Stop
from sless.cli.options import (
    connect,
    function_argument,
    output_option,
)
from sless.cli.output import Json, say_json
from sless.cli.shapes import text_at
from sless.cli.texts import command, duration, words
from sless.model.function import FunctionRef

if TYPE_CHECKING:
    import httpx

    from sless.cli.api import Api

_IDLE_SECONDS = 300.0
"""The gateway's own bound on a call in which nothing moves."""
_CHUNK = 64 * 1024
_ERROR = 400
_RAISED = 500
"""What a function that raised is answered with; the gateway's own errors are others."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""RFC 9110: a method, or a header's name."""


@click.command(
    cls=ServerCommand,
    examples=(
        "sless invoke hello",
        "sless invoke shop --path '/orders?open=1' -H 'X-Tenant: a'",
        "sless invoke thumbnail -d @photo.jpg > small.jpg",
    ),
)
@function_argument
@click.option("-d", "--data", "body", metavar="TEXT|@FILE|-", help="Body to send; - is stdin.")
@click.option("-X", "--method", help="[default: GET, or POST with --data]")
@click.option("-H", "--header", "headers", multiple=True, metavar="'NAME: VALUE'")
@click.option("--path", default="/", metavar="PATH", help="Below the function's URL.")
@click.option("-i", "--include", is_flag=True, help="Print status and headers first.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=_IDLE_SECONDS,
    metavar="SECONDS",
    help="For the next byte to come.  [default: 300]",
)
@output_option
@click.pass_context
def invoke(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    *,
    ref: FunctionRef,
    body: str | None,
    method: str | None,
    headers: tuple[str, ...],
    path: str,
    include: bool,
    timeout: float,
    output: str,
) -> None:
    """Call a function and print its answer, byte for byte.

    On a terminal a line that does not end is ended.

    The exit code is 1 for a status of 400 and above. Our own token is not sent along.
    """
    api = connect(ctx)
    url = _find_url(api, ref) + path.lstrip("/")
    sent = [_parse_header(header) for header in headers]
    import httpx

    from sless.cli.connection import sentences
    from sless.cli.server import is_loopback

    client = httpx.Client(
        timeout=httpx.Timeout(timeout, connect=5), trust_env=not is_loopback(url), auth=_no_auth
    )
    ctx.call_on_close(client.close)
    content = None if body is None else _open_body(ctx, body)
    request = client.build_request(
        _choose_method(method, body),
        url,
        content=content,
        headers=_defaults(body, sent) + sent,
    )
    with sentences(url, lambda: f"{command('get', *words(ref))} shows how it is doing"):
        try:
            response = client.send(request, stream=True)
        except httpx.ReadTimeout as error:
            raise Stop(f"No answer within {duration(timeout)}: see --timeout.") from error
        _print(response, include=include, as_json=output == "json")
    if response.status_code >= _ERROR:
        status = f"{response.status_code} {response.reason_phrase}".strip()
        raise Stop(f"{ref} answered {status}: {_advice(api, ref, response.status_code)}.")


def _advice(api: "Api", ref: FunctionRef, status: int) -> str:
    log = api.connection.server.function_log(ref) if status == _RAISED else None
    return f"its log is {log}" if log else f"{command('get', *words(ref))} shows how it is"


def _no_auth(request: "httpx.Request") -> "httpx.Request":
    """Instead of what a .netrc might hold."""
    return request


def _find_url(api: "Api", ref: FunctionRef) -> str:
    url = text_at(api.function(ref), "status", "url")
    gateway = api.connection.server.gateway
    if not url and gateway:
        url = f"{gateway}/fn/{ref.namespace}/{ref.name}"
    if not url:
        raise Stop(f"{ref} has no URL yet: {command('get', *words(ref))} shows how it is doing.")
    return url.rstrip("/") + "/"


def _choose_method(method: str | None, body: str | None) -> str:
    if method is None:
        return "GET" if body is None else "POST"
    if not _TOKEN.fullmatch(method):
        raise Stop(f"{method!r} is no method: give one such as PUT.", Exit.USAGE)
    return method.upper()


def _parse_header(text: str) -> tuple[bytes, bytes]:
    name, colon, value = text.partition(":")
    if not colon or not _TOKEN.fullmatch(name.strip()) or not value.isprintable():
        raise Stop(f"{text!r} is no header: write 'Name: value'.", Exit.USAGE)
    return name.strip().encode(), value.strip().encode()


def _defaults(body: str | None, sent: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    # Byte for byte: what is not asked for compressed needs no unpacking.
    headers = {b"accept-encoding": b"identity"}
    if body is not None:
        headers[b"content-type"] = _guess_type(body).encode()
    given = {name.lower() for name, _ in sent}
    return [(name, value) for name, value in headers.items() if name not in given]


def _guess_type(body: str) -> str:
    if body == "-" or body.startswith("@"):
        import mimetypes

        return mimetypes.guess_type(body)[0] or "application/octet-stream"
    try:
        return "application/json" if isinstance(json.loads(body), dict | list) else "text/plain"
    except ValueError:
        return "text/plain"


def _open_body(ctx: click.Context, body: str) -> bytes | Iterator[bytes]:
    if body == "-":
        return _chunks(sys.stdin.buffer)
    if not body.startswith("@"):
        return body.encode(errors="surrogateescape")
    try:
        return _chunks(ctx.with_resource(Path(body[1:]).open("rb")))
    except OSError as error:
        raise Stop(
            f"{body[1:]!r} cannot be read ({error.strerror}): check --data.", Exit.USAGE
        ) from error


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _print(response: "httpx.Response", *, include: bool, as_json: bool) -> None:
    if as_json:
        say_json(_as_json(response))
        return
    sys.stdout.flush()
    out = sys.stdout.buffer
    if include:
        out.write(_head(response))
    last = b""
    for chunk in response.iter_raw():
        out.write(chunk)
        out.flush()
        last = chunk or last
    if sys.stdout.isatty() and last and not last.endswith(b"\n"):
        out.write(b"\n")  # the prompt, or a progress line, would be written over it


def _head(response: "httpx.Response") -> bytes:
    lines = [f"{response.http_version} {response.status_code} {response.reason_phrase}".encode()]
    lines += [name + b": " + value for name, value in response.headers.raw]
    return b"\r\n".join([*lines, b"", b""])


def _as_json(response: "httpx.Response") -> Json:
    body = b"".join(response.iter_raw())
    try:
        text, encoding = body.decode(), "utf-8"
    except UnicodeDecodeError:
        text, encoding = base64.b64encode(body).decode(), "base64"
    return {
        "status": response.status_code,
        "headers": [[name, value] for name, value in response.headers.multi_items()],
        "body": text,
        "bodyEncoding": encoding,
    }
