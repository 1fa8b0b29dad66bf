"""A rollback within a moment of the rollout that it takes back."""

import time
from pathlib import Path

import httpx
import pytest

from tests.e2e.running import RunningHome, wait_until

pytestmark = pytest.mark.real

NAME = "quick"
LOOKED_SECONDS = 3.0
"""Longer than a process that is not routed to any more goes on."""


def says(home: RunningHome) -> str:
    return home.call(f"default/{NAME}/").text


def deploy(home: RunningHome, folder: Path, text: str, *options: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "handler.py").write_text(f"def handler(request):\n    return {text!r}\n")
    home.done("deploy", str(folder), "--name", NAME, *options)


def is_ready(api: httpx.Client, url: str, generation: int) -> bool:
    status = api.get(url).json().get("status") or {}
    return (status.get("observedGeneration"), status.get("phase")) == (generation, "Ready")


def test_ready_is_true_however_soon_it_goes_back(home: RunningHome, tmp_path: Path) -> None:
    deploy(home, tmp_path, "one")
    first = home.json("builds", NAME)["items"][0]["id"]
    headers = {"Authorization": f"Bearer {Path(home.facts.token).read_text().strip()}"}
    url = f"{home.facts.api}/v1/namespaces/default/functions/{NAME}"
    with httpx.Client(headers=headers, trust_env=False, timeout=30) as api:
        deploy(home, tmp_path, "two", "--no-wait")
        wait_until(lambda: is_ready(api, url, 2), within=60, what="two is ready")
        assert says(home) == "two"
        asked = api.post(f"{url}/rollback", json={"build": first}).raise_for_status()
        generation = asked.json()["generation"]
        wait_until(lambda: is_ready(api, url, generation), within=60, what="one is ready again")
    end = time.monotonic() + LOOKED_SECONDS
    while time.monotonic() < end:
        assert says(home) == "one"
