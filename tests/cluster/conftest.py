"""A connection to the cluster that KUBECONFIG names; `make cluster-up` makes one."""

import os
from collections.abc import AsyncIterator

import pytest

from sless.adapters.kubernetes.client import ApiServer, connect
from tests.cluster.chart import install_quietly

pytest.register_assert_rewrite("tests.contract")


@pytest.fixture(scope="session")
def kubeconfig() -> str:
    """Its path; whoever asks for these tests without a cluster is told, not passed over."""
    path = os.environ.get("KUBECONFIG")
    if not path:
        pytest.fail("KUBECONFIG names no cluster: run make cluster-up, or set it.", pytrace=False)
    return path


@pytest.fixture(scope="session", autouse=True)
def installed(kubeconfig: str) -> None:
    """The chart as it is here, the custom resource included."""
    install_quietly(kubeconfig)


@pytest.fixture
async def server(kubeconfig: str) -> AsyncIterator[ApiServer]:
    """With the rights of whom the kubeconfig names."""
    server = await connect(kubeconfig)
    yield server
    await server.close()
