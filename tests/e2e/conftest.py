"""Homes for end-to-end tests: one that all share, and fresh ones to be hurt."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.running import RunningHome


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHome]:
    """A home that is up, shared by all tests of a session: use names of your own in it."""
    running = RunningHome(tmp_path_factory.mktemp("home", numbered=True) / "data")
    running.start()
    try:
        running.wait_up()
        yield running
        assert running.stop() == 0, running.tail()
    finally:
        running.kill()


@pytest.fixture
def make_home(tmp_path: Path) -> Iterator[Callable[[], RunningHome]]:
    """Makes homes that are not started yet; whatever still runs at the end is killed."""
    made: list[RunningHome] = []

    def make() -> RunningHome:
        made.append(RunningHome(tmp_path / f"home{len(made)}"))
        return made[-1]

    yield make
    for running in made:
        running.kill()
