"""The API of a rig, trusting an issuer beside the home's own key."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from sless.adapters.oidc_verifiers import open_verifier
from sless.issuers import IssuerSettings
from sless.settings import TokensSettings
from sless.tokens import ISSUER
from tests.component.api.rig import ApiRig
from tests.issuer.signing import AUDIENCE

PATH = "/v1/namespaces/a/functions"
"""Of a namespace that good tokens are good for."""


@asynccontextmanager
async def trusting(
    rig: ApiRig, *urls: str, ca_file: Path | None = None, **changes: Any
) -> AsyncIterator[None]:
    """Has the rig's API trust issuers, for groups such as `team-a`, until the end."""
    issuers = tuple(
        IssuerSettings(
            allow_http=True,
            ca_file=ca_file,
            url=url,
            audience=AUDIENCE,
            claim="groups",
            template="team-{namespace}",
        )
        for url in urls
    )
    own = {ISSUER: rig.key.verifier()}
    async with open_verifier(TokensSettings(issuers=issuers, **changes), own=own) as verifier:
        rig.verifier = verifier
        rig.restart()
        yield


async def answer(rig: ApiRig, token: str, path: str = PATH) -> httpx.Response:
    """What one request with that token gets."""
    async with rig.client(token=token) as client:
        return await client.get(path)


async def status(rig: ApiRig, token: str, path: str = PATH) -> int:
    return (await answer(rig, token, path)).status_code


def refused(rig: ApiRig) -> dict[str, float]:
    """Refused tokens by fault, as Prometheus would scrape them."""
    counter = rig.app.state.services.metrics.refused_tokens
    return {
        sample.labels["fault"]: sample.value
        for metric in counter.collect()
        for sample in metric.samples
        if sample.name.endswith("_total")
    }
