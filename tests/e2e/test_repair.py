"""What is lost by accident comes back by itself; what is answered stays answered."""

import contextlib
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.running import RunningHome, wait_until

pytestmark = pytest.mark.real

HELLO = Path(__file__).parents[2] / "examples" / "hello"


def answers(home: RunningHome) -> bool:
    return home.call("default/hello/").is_success


def execute(home: RunningHome, statement: str) -> list[str]:
    """The first column of what it returns."""
    with contextlib.closing(sqlite3.connect(home.layout.database, timeout=10)) as rows, rows:
        return [str(row[0]) for row in rows.execute(statement)]


def test_lost_images_and_deployments_come_back_with_no_new_ask(
    make_home: Callable[[], RunningHome],
) -> None:
    home = make_home()
    home.start()
    home.wait_up()
    home.done("deploy", str(HELLO))
    asked = home.json("get", "hello")["metadata"]["generation"]

    shutil.rmtree(home.layout.images / "trees")
    shutil.rmtree(home.layout.images / "manifests")
    home.kill_part("runner")
    wait_until(lambda: not answers(home), within=20, what="the function is gone")
    wait_until(lambda: answers(home), within=120, what=lambda: f"it is back: {home.tail()}")

    assert execute(home, "DELETE FROM deployments RETURNING name") == ["hello"]
    wait_until(
        lambda: execute(home, "SELECT name FROM deployments") == ["hello"],
        within=120,
        what=lambda: f"it is deployed again: {home.tail()}",
    )
    wait_until(lambda: answers(home), within=120, what=lambda: f"it is back: {home.tail()}")

    assert home.json("get", "hello")["metadata"]["generation"] == asked
    wait_until(
        lambda: home.json("get", "hello")["status"]["phase"] == "Ready",
        within=30,
        what=lambda: f"Ready again: {home.done('get', 'hello')}",
    )
    assert len(home.json("builds", "hello")["items"]) == 1
    assert home.stop() == 0
