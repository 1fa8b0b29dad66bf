"""Who we are to a registry: basic credentials, or tokens that they buy."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

import httpx

from sless.adapters.registry.challenge import Challenge, parse_challenge
from sless.adapters.registry.credentials import Credentials
from sless.adapters.registry.words import find_token
from sless.errors import RegistryDenied, RegistryUnavailable


class _Answer(Protocol):
    @property
    def status(self) -> int: ...
    @property
    def body(self) -> bytes: ...


_REALM_MAX = 200
"""Characters of a wrong address that a message repeats."""

Send = Callable[[httpx.Request], Awaitable[_Answer]]
"""Sends a request as it is, and raises `RegistryUnavailable`."""


@dataclass(slots=True)
class Authority:
    """Headers by repository, as learned from the registry's challenges."""

    find_credentials: Callable[[], Credentials | None]
    """Asked at each challenge, since passwords are replaced while we run."""
    who: str = "anonymous callers"
    """Whom the registry last saw, for messages."""
    _headers: dict[str, str] = field(default_factory=dict)

    def sign(self, request: httpx.Request) -> None:
        """Adds what was learned, if anything."""
        header = self._headers.get(_repository(request))
        if header is not None:
            request.headers["Authorization"] = header

    def forget(self, request: httpx.Request) -> bool:
        """Takes back what the request said, unless others learned anew; whether it said it."""
        said, key = request.headers.pop("Authorization", None), _repository(request)
        if said is not None and self._headers.get(key) == said:
            del self._headers[key]
        return said is not None

    async def learn(self, header: str, request: httpx.Request, send: Send) -> bool:
        """Meets a challenge; whether there is something new to say.

        Raises `RegistryDenied` or `RegistryUnavailable`.
        """
        credentials = self.find_credentials()
        self.who = f"the user {credentials.user!r}" if credentials else "anonymous callers"
        match parse_challenge(header):
            case Challenge("basic") if credentials:
                learned = credentials.basic
            case Challenge("bearer") as challenge:
                learned = f"Bearer {await self._token(challenge, request, send, credentials)}"
            case _:
                return False
        key = _repository(request)
        changed = self._headers.get(key) != learned
        self._headers[key] = learned
        return changed

    async def _token(
        self,
        challenge: Challenge,
        request: httpx.Request,
        send: Send,
        credentials: Credentials | None,
    ) -> str:
        asked = _token_request(challenge, request, credentials)
        answer = await send(asked)
        host = asked.url.netloc.decode()
        if answer.status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
            raise RegistryDenied(
                f"{host} gives {self.who} no token for the registry (it answers "
                f"{answer.status}): check SLESS_REGISTRY__CREDENTIALS."
            )
        token = find_token(answer.body) if answer.status == httpx.codes.OK else None
        if token is None:
            raise RegistryUnavailable(
                f"{host} answers {answer.status} without a token for the registry."
            )
        return token


def _token_request(
    challenge: Challenge, request: httpx.Request, credentials: Credentials | None
) -> httpx.Request:
    told = challenge.parameters.get("realm", "")
    realm = _find_url(told)
    allowed = {"https"} if request.url.scheme == "https" else {"http", "https"}
    if realm is None or realm.scheme not in allowed:
        raise RegistryDenied(
            f"The registry at {request.url.netloc.decode()} asks for a password to be sent to "
            f"{told[:_REALM_MAX] or 'nowhere'!r}, which is no https address."
        )
    wanted = {
        name: value
        for name, value in challenge.parameters.items()
        if name in {"service", "scope"} and value
    }
    headers = {"Accept-Encoding": "identity"}
    if credentials:
        headers["Authorization"] = credentials.basic
    return httpx.Request("GET", realm.copy_merge_params(wanted), headers=headers)


def _find_url(text: str) -> httpx.URL | None:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        return None
    return url if url.host else None


def _repository(request: httpx.Request) -> str:
    """What tokens are given for: all of the path before its last two parts."""
    return request.url.path.rsplit("/", 2)[0]
