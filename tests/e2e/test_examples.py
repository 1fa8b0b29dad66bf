"""Every example's whole life in the embedded home."""

from pathlib import Path

import pytest

from tests.e2e.lives import ALL, Example, live
from tests.e2e.running import RunningHome

pytestmark = pytest.mark.real


@pytest.mark.parametrize("example", ALL, ids=lambda example: example.name)
def test_the_whole_life_of_an_example(home: RunningHome, tmp_path: Path, example: Example) -> None:
    live(home, tmp_path / example.name, example)
