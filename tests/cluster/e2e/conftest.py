"""The platform, installed once for all tests here, and a namespace for each of them."""

import uuid
from collections.abc import Callable, Iterator

import pytest

from tests.cluster.chart import Values, install, run
from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.e2e.platform import ensure_namespace, ensure_registry_secret, install_platform


@pytest.fixture(scope="session")
def platform(kubeconfig: str) -> Iterator[Values]:
    """The values it was installed with; afterwards its parts are gone."""
    yield install_platform(kubeconfig)
    install(kubeconfig)


@pytest.fixture
def make_home(platform: Values) -> Iterator[Callable[[], ClusterHome]]:
    """Makes namespaces; they go with the test."""
    made: list[str] = []
    settings = platform["settings"]

    def make() -> ClusterHome:
        name = f"e2e-{uuid.uuid4().hex[:8]}"
        ensure_namespace(name)
        made.append(name)
        ensure_registry_secret(name)
        return ClusterHome(name, settings["SLESS_API__URL"], settings["SLESS_GATEWAY__URL"])

    yield make
    for name in made:
        run("kubectl", "delete", "namespace", name, "--wait=false")


@pytest.fixture
def home(make_home: Callable[[], ClusterHome]) -> ClusterHome:
    """A namespace of its own."""
    return make_home()
