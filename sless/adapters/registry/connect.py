"""Makes `RegistryImages` from what an operator set."""

import contextlib
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import httpx

from sless.adapters.registry.authority import Authority
from sless.adapters.registry.credentials import read_credentials
from sless.adapters.registry.images import RegistryImages
from sless.adapters.registry.place import RegistryPlace
from sless.adapters.registry.session import Patience, RegistrySession
from sless.adapters.trust import trust


@contextlib.asynccontextmanager
async def connect_registry(
    place: RegistryPlace,
    *,
    credentials: Path | None = None,
    ca_file: Path | None = None,
    patience: Patience | None = None,
) -> AsyncIterator[RegistryImages]:
    """Images for as long as the block runs.

    Args:
        place: The registry.
        credentials: A Docker config.json; none for a registry that asks nobody.
        ca_file: Certificates in PEM that are trusted besides the system's.
        patience: How long it is waited for.

    Raises:
        InvalidSetting: `ca_file` cannot be used.
    """
    find = partial(read_credentials, credentials, place.push) if credentials else lambda: None
    patience = patience or Patience()
    async with httpx.AsyncClient(
        verify=trust(ca_file, setting="SLESS_REGISTRY__CA_FILE"),
        timeout=httpx.Timeout(patience.request),
    ) as client:
        yield RegistryImages(RegistrySession(client, place, Authority(find), patience))
