"""An OpenID Connect issuer over HTTP: its keys, by its discovery document."""

import asyncio
from dataclasses import dataclass

import httpx

from sless.adapters.oidc_discovery import discovery_address, parse_jwks_address
from sless.errors import IssuerUnavailable
from sless.ports.issuer import Issuer

_DOCUMENT_BYTES = 256 * 1024
"""Keys of a large issuer with certificate chains are some 20 KiB."""
_HEADERS = {
    # The second is what Kubernetes has its keys in, and nothing else.
    "Accept": "application/json, application/jwk-set+json",
    # What nobody has to inflate cannot be a bomb.
    "Accept-Encoding": "identity",
    "User-Agent": "sless",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcIssuer(Issuer):
    """One issuer; the client is shared with others, and follows no redirects."""

    url: str
    client: httpx.AsyncClient
    seconds: float
    """For both documents together, however slowly they drip."""
    allow_http: bool = False
    """Whether addresses may be http on the loopback."""

    async def fetch_jwks(self) -> bytes:
        """See the port."""
        try:
            async with asyncio.timeout(self.seconds):
                document = await self._get(discovery_address(self.url))
                address = parse_jwks_address(document, issuer=self.url, allow_http=self.allow_http)
                return await self._get(address)
        except TimeoutError as error:
            raise IssuerUnavailable(
                f"{self.url} did not give its keys within {self.seconds:g} s."
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError) as error:
            raise IssuerUnavailable(f"{self.url} does not answer: {_told(error)}.") from error

    async def _get(self, address: str) -> bytes:
        async with self.client.stream("GET", address, headers=_HEADERS) as response:
            if response.status_code != httpx.codes.OK:
                raise IssuerUnavailable(f"{address} answers {response.status_code}.")
            content = bytearray()
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) > _DOCUMENT_BYTES:
                    raise IssuerUnavailable(f"{address} sends more than {_DOCUMENT_BYTES} bytes.")
        return bytes(content)


def _told(error: Exception) -> str:
    return str(error).rstrip(".") or type(error).__name__
