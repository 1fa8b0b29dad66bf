"""Verifiers of the configured issuers' tokens, for the root of either home.

httpx is imported where there is an issuer: most embedded homes have none.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from sless.adapters.trust import trust
from sless.errors import InvalidSetting
from sless.issuers import IssuerSettings
from sless.settings import TokensSettings
from sless.tokens.by_issuer import ByIssuer
from sless.tokens.identity import Verifier
from sless.tokens.issuer_verifier import IssuerVerifier
from sless.tokens.key_cache import KeyCache
from sless.tokens.key_policy import KeyTimes
from sless.tokens.namespaces import NamespaceClaim
from sless.tokens.reading import Expected

if TYPE_CHECKING:
    import httpx


@asynccontextmanager
async def open_verifier(
    settings: TokensSettings, own: Mapping[str, Verifier] | None = None
) -> AsyncIterator[Verifier]:
    """What verifies tokens of every configured issuer, and of a home's own keys by their issuer.

    An issuer that is down holds up no start: its keys are fetched beside it, and when used. Raises
    `InvalidSetting` where nobody could ask for anything.
    """
    if not settings.issuers and not own:
        raise InvalidSetting("SLESS_TOKENS__ISSUERS is empty: no token would be good; name one.")
    async with _open_issuers(settings) as theirs:
        # A home's own key comes first, whatever an issuer calls itself.
        yield ByIssuer(verifiers={**theirs, **(own or {})}, token_bytes=settings.max_bytes)


@asynccontextmanager
async def _open_issuers(settings: TokensSettings) -> AsyncIterator[Mapping[str, Verifier]]:
    if not settings.issuers:
        # A client takes a tenth of a second to make, which most homes need not spend.
        yield {}
        return
    async with AsyncExitStack() as stack:
        theirs = {}
        for issuer in settings.issuers:
            client = await stack.enter_async_context(_client(issuer, settings))
            theirs[issuer.url] = _verifier_of(issuer, settings, client)
        for each in theirs.values():
            each.keys.warm()
        try:
            yield theirs
        finally:
            await asyncio.gather(*(each.keys.close() for each in theirs.values()))


def _client(issuer: IssuerSettings, settings: TokensSettings) -> "httpx.AsyncClient":
    import httpx

    return httpx.AsyncClient(
        verify=True
        if issuer.ca_file is None
        else trust(issuer.ca_file, setting=f"SLESS_TOKENS__ISSUERS, ca_file of {issuer.url},"),
        follow_redirects=False,
        timeout=settings.fetch_seconds,
        # Two requests in minutes: a connection that the other side has just closed gains nothing.
        limits=httpx.Limits(max_keepalive_connections=0),
        # Plain http is the loopback's alone, where the environment's proxy has no business.
        mounts={"http://": None},
    )


def _verifier_of(
    issuer: IssuerSettings, settings: TokensSettings, client: "httpx.AsyncClient"
) -> IssuerVerifier:
    from sless.adapters.oidc import OidcIssuer

    source = OidcIssuer(
        url=issuer.url,
        client=client,
        seconds=settings.fetch_seconds,
        allow_http=issuer.allow_http,
    )
    times = KeyTimes(
        refresh=settings.refresh_seconds,
        stale=settings.stale_seconds,
        cool_down=settings.cool_down_seconds,
    )
    return IssuerVerifier(
        expected=Expected(
            issuer=issuer.url,
            audience=issuer.audience,
            leeway=timedelta(seconds=settings.leeway_seconds),
        ),
        claim=NamespaceClaim(
            path=issuer.path, template=issuer.template, every=issuer.every, spaced=issuer.spaced
        ),
        keys=KeyCache(name=issuer.url, issuer=source, times=times),
        token_bytes=settings.max_bytes,
    )
