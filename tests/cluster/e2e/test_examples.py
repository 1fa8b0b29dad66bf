"""Every example's whole life on a cluster, by the command line."""

from pathlib import Path

import pytest

from tests.cluster.e2e.cluster_home import ClusterHome
from tests.e2e.lives import ALL, Example, live
from tests.e2e.running import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]


@pytest.mark.parametrize("example", ALL, ids=lambda example: example.name)
def test_the_whole_life_of_an_example(home: ClusterHome, tmp_path: Path, example: Example) -> None:
    live(home, tmp_path / example.name, example)
    wait_until(lambda: not home.left(), within=60, what=lambda: f"still there: {home.left()}")
