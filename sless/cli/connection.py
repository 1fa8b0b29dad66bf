"""One HTTP connection to the API: every way in which it can fail becomes one sentence."""

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

import httpx

from sless.cli.exits import Exit, Stop, exit_for
from sless.cli.output import Json
from sless.cli.server import Choices, Server, find_server, is_loopback
from sless.cli.texts import sentence
from sless.errors import Unauthenticated

_TIMEOUT = httpx.Timeout(120, connect=5)
"""Seconds; the answer to an upload comes when the zip is checked and stored."""


class _Bearer(httpx.Auth):
    """Our token; as an auth of its own it also keeps a .netrc from replacing it."""

    def __init__(self, token: str) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Iterator[httpx.Request]:  # type: ignore[override]
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        yield request


class Connection:
    """Requests to the API below `/v1`."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self.server = find_server(choices)
        self._client = _open(self.server)
        self._opened = [self._client]

    def close(self) -> None:
        """Closes the sockets."""
        for client in self._opened:
            client.close()

    def find_again(self) -> None:
        """A home that came back may have other ports; one still away keeps the old ones."""
        if self.server.home is None:
            return
        try:
            server = find_server(self._choices)
        except Stop:
            return
        if server != self.server:
            self.server, self._client = server, _open(server)
            # The one before stays open: another thread may be reading from it.
            self._opened.append(self._client)

    def fetch(self, method: str, path: str, **options: object) -> Json:
        """The JSON object that is answered, empty for an empty answer; raises `Stop`."""
        with self.stream(method, path, **options) as response:
            text = response.read()
        return self._parse(text) if text else {}

    def fetch_bytes(self, path: str) -> bytes:
        """The body that a GET is answered with; raises `Stop`."""
        with self.stream("GET", path) as response:
            return response.read()

    @contextmanager
    def stream(self, method: str, path: str, **options: object) -> Iterator[httpx.Response]:
        """A response below 300 whose body was not read yet; raises `Stop`, also while reading."""
        with sentences(self.server.api, self.server.advice):
            request = self._client.build_request(method, f"/v1{path}", **options)  # type: ignore[arg-type]
            response = self._client.send(request, stream=True)
            try:
                if not response.is_success:
                    response.read()
                    raise self._refusal(response)
                yield response
            finally:
                response.close()

    def _parse(self, text: bytes) -> Json:
        try:
            content = json.loads(text)
        except ValueError:
            content = None
        if not isinstance(content, dict):
            raise self._stranger("something that is no JSON object")
        return cast("Json", content)

    def _refusal(self, response: httpx.Response) -> Stop:
        try:
            problem = json.loads(response.content)
            reason, detail = str(problem["reason"]), sentence(str(problem["detail"]))
        except (ValueError, KeyError, TypeError):
            return self._stranger(f"{response.status_code} {response.reason_phrase}".strip())
        if reason == Unauthenticated.reason and not self.server.token:
            detail += " Give a token by --token or SLESS_TOKEN."
        number = problem.get("requestId")
        if response.is_server_error and number:
            detail += f" (request {sentence(str(number))})"
        return Stop(f"{detail} [{reason}]", exit_for(reason), reason=reason)

    def _stranger(self, answer: str) -> Stop:
        server = self.server
        return Stop(
            f"{server.api} answered {answer}, as no sless server does: {server.advice()}.",
            Exit.UNREACHABLE,
        )


def _open(server: Server) -> httpx.Client:
    # A proxy set for the outside world does not reach this machine's own ports.
    return httpx.Client(
        base_url=server.api,
        auth=_Bearer(server.token),
        timeout=_TIMEOUT,
        trust_env=not is_loopback(server.api),
    )


@contextmanager
def sentences(url: str, advice: Callable[[], str]) -> Iterator[None]:
    """Translates what httpx raises, once, into `Stop`."""
    try:
        yield
    except httpx.InvalidURL as error:
        raise Stop(f"{url!r} is no URL ({sentence(str(error))}).", Exit.USAGE) from error
    except httpx.ConnectError as error:
        raise Stop(_unreachable(error, url, advice()), Exit.UNREACHABLE) from error
    except httpx.ConnectTimeout as error:
        raise Stop(f"{url} does not answer: {advice()}.", Exit.UNREACHABLE) from error
    except httpx.ProxyError as error:
        raise Stop(
            f"The proxy on the way to {url} refused ({sentence(str(error))}): check HTTPS_PROXY "
            "and NO_PROXY.",
            Exit.UNREACHABLE,
        ) from error
    except httpx.TimeoutException as error:
        raise Stop(f"{url} stopped answering: try again.", Exit.UNREACHABLE) from error
    except httpx.HTTPError as error:
        why = sentence(str(error)) or type(error).__name__
        raise Stop(
            f"The connection to {url} broke ({why}): try again.", Exit.UNREACHABLE
        ) from error


def _unreachable(error: httpx.ConnectError, url: str, advice: str) -> str:
    why = sentence(str(error))
    if _caused_by_tls(error):
        return f"TLS with {url} failed ({why}): check the URL, or name its CA by SSL_CERT_FILE."
    return f"{url} cannot be reached ({why}): {advice}."


def _caused_by_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False
