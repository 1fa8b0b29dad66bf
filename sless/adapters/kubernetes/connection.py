"""Requests to an API server: each has a timeout, and only its own refusals are answers."""

import asyncio
import contextlib
import json
import os
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from http import HTTPStatus
from typing import Any

import aiohttp
from kubernetes.aio.client import ApiClient, Configuration
from kubernetes.aio.client.exceptions import OpenApiException
from kubernetes.aio.config import ConfigException, load_incluster_config, load_kube_config

from sless.errors import SlessError, StoreUnavailable

Object = dict[str, Any]
"""As `kubectl get -o json` shows it."""
Query = Mapping[str, str | int | None]
"""None leaves a parameter out."""

REQUEST_SECONDS = 10.0
"""An API server that takes longer is away; the callers come back."""


async def read_configuration(kubeconfig: str | None = None) -> Configuration:
    """Of that kubeconfig, else of the cluster whose pod this is, else of `KUBECONFIG`.

    Raises `StoreUnavailable` when none of them tells.
    """
    configuration = Configuration()
    try:
        if kubeconfig is None and "KUBERNETES_SERVICE_HOST" in os.environ:
            load_incluster_config(configuration)  # type: ignore[no-untyped-call]
        else:
            await load_kube_config(  # type: ignore[no-untyped-call]
                config_file=kubeconfig, client_configuration=configuration, persist_config=False
            )
    except (ConfigException, OSError) as error:
        raise StoreUnavailable(f"Nothing tells where the cluster is: {error}") from error
    return configuration


class Connection:
    """Sends requests with the identity that the configuration has."""

    def __init__(self, configuration: Configuration) -> None:
        self._client = ApiClient(configuration)

    async def close(self) -> None:
        """Closes what is open."""
        await self._client.close()  # type: ignore[no-untyped-call]

    async def send(  # noqa: PLR0913  # a request has this many sides, all named
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Any = None,
        content: str = "",
        accept: str = "",
    ) -> tuple[int, Object]:
        """The HTTP status and the parsed body; a body that is no JSON object is its `message`.

        A server that says it is busy is asked again, within the same time. Raises
        `StoreUnavailable` when nothing answers.
        """
        patience = time.monotonic() + REQUEST_SECONDS
        while True:
            async with self.answer(
                method, path, query=query, body=body, content=content, accept=accept
            ) as response:
                pause = _pause(response)
                if pause is None or time.monotonic() + pause > patience:
                    return response.status, parse_body(await response.read())
            await asyncio.sleep(pause)

    @contextlib.asynccontextmanager
    async def answer(  # noqa: PLR0913  # a request has this many sides, all named
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Any = None,
        content: str = "",
        accept: str = "",
        patience: aiohttp.ClientTimeout | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The response while it is still arriving; raises `StoreUnavailable`, then too."""
        with _translated(self._client.configuration.host):
            request = await self._client.param_serialize(
                method,
                path,
                query_params=[(k, str(v)) for k, v in (query or {}).items() if v is not None],
                header_params={
                    "Accept": accept or "application/json, */*",
                    "Content-Type": content or "application/json",
                },
                body=body,
                auth_settings=["BearerToken"],
            )
            answer = await self._client.call_api(
                *request, _request_timeout=patience or aiohttp.ClientTimeout(total=REQUEST_SECONDS)
            )
            async with answer.response as response:
                yield response


def _pause(response: aiohttp.ClientResponse) -> float | None:
    """Seconds after which a busy server, which did nothing yet, wants to be asked again."""
    busy = response.status == HTTPStatus.TOO_MANY_REQUESTS
    wanted = response.headers.get("Retry-After", "1") if busy else ""
    return float(wanted) if wanted.isdecimal() else None


def parse_body(content: bytes) -> Object:
    """A body as an object; `{"message": …}` when it is none."""
    try:
        parsed = json.loads(content)
    except ValueError:
        return {"message": content[:500].decode(errors="replace")}
    return parsed if isinstance(parsed, dict) else {"message": str(parsed)[:500]}


@contextlib.contextmanager
def _translated(host: str) -> Iterator[None]:
    try:
        yield
    except SlessError:
        raise
    except TimeoutError as error:
        raise StoreUnavailable(f"The API server at {host} does not answer in time.") from error
    except (aiohttp.ClientError, OpenApiException, OSError) as error:
        raise StoreUnavailable(f"The API server at {host} does not answer: {error}") from error
