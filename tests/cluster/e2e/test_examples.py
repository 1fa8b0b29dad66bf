"""Every example's whole life on a cluster, by the command line."""

from pathlib import Path

import pytest

from tests.cluster.e2e.cluster_home import ClusterHome
from tests.e2e.lives import ALL, Example, live

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]


@pytest.mark.parametrize("example", ALL, ids=lambda example: example.name)
def test_the_whole_life_of_an_example(home: ClusterHome, tmp_path: Path, example: Example) -> None:
    live(home, tmp_path / example.name, example)
    home.until_nothing_left()
