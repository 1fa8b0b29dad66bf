"""The platform, installed for all tests here, and a namespace for each of them."""

import contextlib
import uuid
from collections.abc import Callable, Iterator

import pytest

from tests.cluster.chart import Values, run
from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.e2e.mirror import NAME, Mirror
from tests.cluster.e2e.platform import install_platform
from tests.cluster.objects import ensure_namespace, ensure_registry_secret


@pytest.fixture(scope="session", autouse=True)
def installed(kubeconfig: str) -> Values:
    """The values it was installed with. Its parts stay: other tests' sessions remove them."""
    return install_platform(kubeconfig)


@contextlib.contextmanager
def making_homes(installed: Values) -> Iterator[Callable[[], ClusterHome]]:
    """Makes namespaces, which go at the end."""
    made: list[str] = []
    settings = installed["settings"]

    def make() -> ClusterHome:
        name = f"e2e-{uuid.uuid4().hex[:8]}"
        ensure_namespace(name)
        made.append(name)
        ensure_registry_secret(name)
        return ClusterHome(name, settings["SLESS_API__URL"], settings["SLESS_GATEWAY__URL"])

    yield make
    for name in made:
        run("kubectl", "delete", "namespace", name, "--wait=false", "--ignore-not-found")


@pytest.fixture
def make_home(installed: Values) -> Iterator[Callable[[], ClusterHome]]:
    """Makes namespaces; they go with the test."""
    with making_homes(installed) as make:
        yield make


@pytest.fixture
def home(make_home: Callable[[], ClusterHome]) -> ClusterHome:
    """A namespace of its own."""
    return make_home()


@pytest.fixture(scope="module")
def shared_home(installed: Values) -> Iterator[ClusterHome]:
    """A namespace for all tests of a module."""
    with making_homes(installed) as make:
        yield make()


@pytest.fixture(scope="module")
def serving(shared_home: ClusterHome, tmp_path_factory: pytest.TempPathFactory) -> Mirror:
    """A function that serves its first version, for all tests of a module."""
    made = Mirror(shared_home, tmp_path_factory.mktemp("mirror") / NAME)
    made.deploy("one")
    return made


@pytest.fixture
def mirror(serving: Mirror) -> Iterator[Mirror]:
    """Likewise; what a test asked for is taken back."""
    yield serving
    serving.patch(command=None, env=None)
    serving.until_ended()
