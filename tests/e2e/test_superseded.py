"""A build that a newer upload takes the place of."""

from pathlib import Path

import pytest

from tests.component.contexts import silence
from tests.e2e.running import RunningHome, wait_until

pytestmark = pytest.mark.real

NAME = "overtaken"


def listed(home: RunningHome) -> list[tuple[str, str]]:
    return [(build["id"], build["phase"]) for build in home.json("builds", NAME)["items"]]


def test_it_is_listed_by_that_word(home: RunningHome, tmp_path: Path) -> None:
    (tmp_path / "handler.py").write_text("def handler(request):\n    return 'hi'\n")
    requirements = tmp_path / "requirements.txt"
    deploy = ("deploy", str(tmp_path), "--name", NAME)
    with silence() as url:
        requirements.write_text(f"never @ {url}/never-1.0.tar.gz\n")
        older = home.json(*deploy, "--no-wait")["build"]
        wait_until(
            lambda: listed(home) == [(older, "Building")],
            within=60,
            what=lambda: f"{older} is under way: {listed(home)}",
        )
        requirements.unlink()
        newer = home.json(*deploy)["build"]
    wait_until(
        lambda: listed(home) == [(newer, "Ready"), (older, "Superseded")],
        within=60,
        what=lambda: f"{older} is listed as superseded: {listed(home)}",
    )
    assert f"{older}  1           Superseded  -" in home.done("builds", NAME)
    home.done("delete", NAME, "--yes")
