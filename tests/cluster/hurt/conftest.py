"""The platform as for tests/cluster/e2e; what is here kills what others would use meanwhile."""

from tests.cluster.e2e.conftest import home, installed, make_home, shared_home

__all__ = ["home", "installed", "make_home", "shared_home"]
