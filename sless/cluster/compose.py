"""Chooses the Kubernetes home's adapters: a part opens what it needs, from the settings alone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sless.adapters.kubernetes.client import ApiServer, connect
from sless.errors import InvalidSetting
from sless.settings import Settings


def check_home(settings: Settings) -> None:
    """Raises `InvalidSetting` for the settings of another home."""
    if settings.home != "kubernetes":
        raise InvalidSetting(
            f"SLESS_HOME is {settings.home}: this process is the Kubernetes home's."
        )


@asynccontextmanager
async def open_server(settings: Settings) -> AsyncIterator[ApiServer]:
    """The API server of the cluster that this pod is in, or of `KUBECONFIG`."""
    check_home(settings)
    server = await connect()
    try:
        yield server
    finally:
        await server.close()
