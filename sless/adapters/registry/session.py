"""Requests to one registry: credentials, patience with a busy one, and its errors as ours."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType

import httpx

from sless.adapters.registry.authority import Authority
from sless.adapters.registry.challenge import parse_retry_after
from sless.adapters.registry.place import RegistryPlace
from sless.adapters.registry.words import find_complaint
from sless.errors import RegistryDenied, RegistryUnavailable

MANIFEST_BYTES = 4 * 1024 * 1024
"""What registries must take at least, and most at most: a larger answer is no manifest."""
_BUSY = frozenset({429, 500, 502, 503, 504})
_PLAIN = {"Accept-Encoding": "identity"}
"""What nobody has to inflate cannot be a bomb."""
_FIRST_PAUSE = 0.5
"""Seconds before the second try where the registry does not say; doubled each time."""
_SHORTEST_PAUSE = 0.1
"""Seconds: `Retry-After: 0` is no leave to hammer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A response that was read to its end."""

    status: int
    headers: Mapping[str, str]
    """Names in any case."""
    body: bytes


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a registry is waited for, in seconds."""

    request: float = 10.0
    """For one answer, to its last byte."""
    busy: float = 30.0
    """In all, for one that says it is busy; it fits in an activity's minute."""


@dataclass(frozen=True, slots=True)
class RegistrySession:
    """One client, for as long as the process lives."""

    client: httpx.AsyncClient
    place: RegistryPlace
    authority: Authority
    patience: Patience = field(default_factory=Patience)

    async def request(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] = MappingProxyType({}),
        content: bytes = b"",
    ) -> Answer:
        """The answer, whatever it says but 401, 403, 429 and 5xx.

        Raises `RegistryUnavailable` or `RegistryDenied`.
        """
        request = self.client.build_request(
            method, f"{self.place.url}{path}", headers={**headers, **_PLAIN}, content=content
        )
        deadline, pause = time.monotonic() + self.patience.busy, _FIRST_PAUSE
        while True:
            answer = await self._authorised(request)
            if answer.status not in _BUSY:
                return answer
            told = parse_retry_after(answer.headers.get("retry-after", ""), now=datetime.now(UTC))
            wait = pause if told is None else max(told, _SHORTEST_PAUSE)
            if time.monotonic() + wait > deadline:
                raise self._busy(answer, told)
            await asyncio.sleep(wait)
            pause *= 2

    async def _authorised(self, request: httpx.Request) -> Answer:
        """Whoever is forbidden introduces itself anew, once: some say so of what has expired."""
        answer = await self._introduced(request)
        if answer.status == httpx.codes.FORBIDDEN and self.authority.forget(request):
            answer = await self._introduced(request)
        if answer.status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
            raise RegistryDenied(
                f"The registry at {self.place.push} refuses {self.authority.who} "
                f"({answer.status}{_said(answer)}): check SLESS_REGISTRY__CREDENTIALS."
            )
        return answer

    async def _introduced(self, request: httpx.Request) -> Answer:
        """Asked who we are, tells it and tries once more: a cached token may have expired."""
        self.authority.sign(request)
        answer = await self._send(request)
        if answer.status == httpx.codes.UNAUTHORIZED:
            challenge = answer.headers.get("www-authenticate", "")
            if await self.authority.learn(challenge, request, self._send):
                self.authority.sign(request)
                answer = await self._send(request)
        return answer

    async def _send(self, request: httpx.Request) -> Answer:
        with self._translated():
            async with asyncio.timeout(self.patience.request), self._streamed(request) as response:
                return Answer(response.status_code, response.headers, await self._read(response))

    @contextlib.asynccontextmanager
    async def _streamed(self, request: httpx.Request) -> AsyncIterator[httpx.Response]:
        response = await self.client.send(request, stream=True)
        try:
            yield response
        finally:
            await response.aclose()

    async def _read(self, response: httpx.Response) -> bytes:
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > MANIFEST_BYTES:
                raise RegistryUnavailable(
                    f"The registry at {self.place.push} answers with more than {MANIFEST_BYTES} "
                    "bytes, which is no manifest: check SLESS_REGISTRY__PUSH."
                )
        return bytes(body)

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (TimeoutError, httpx.TimeoutException) as error:
            raise RegistryUnavailable(
                f"The registry at {self.place.push} did not answer within "
                f"{self.patience.request:g} s."
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise RegistryUnavailable(
                f"The registry at {self.place.push} does not answer: "
                f"{error or type(error).__name__}."
            ) from error

    def _busy(self, answer: Answer, told: float | None) -> RegistryUnavailable:
        later = "" if told is None else f" and wants to be asked again in {told:g} s"
        return RegistryUnavailable(
            f"The registry at {self.place.push} answers {answer.status}{_said(answer)}{later}."
        )


def _said(answer: Answer) -> str:
    """The registry's own words, if it has any in the form of the distribution specification."""
    complaint = find_complaint(answer.body)
    return f", {complaint}" if complaint else ""
