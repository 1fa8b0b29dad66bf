"""`sless get` tells what the home warned of."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.component.cli.conftest import Cli
from tests.component.cli.scripted_api import ScriptedApi


@pytest.fixture
def deployed(api: ScriptedApi) -> dict[str, Any]:
    api.ask("default", "hello", s3Key="x")
    return api.functions["default", "hello"]


def warning(count: int = 1) -> dict[str, Any]:
    return {
        "about": "pod fn-hello-5d-x2x4z",
        "reason": "FailedScheduling",
        "message": "No node takes the pod:\n\x1b[2Jtoo large.",
        "count": count,
        "lastSeen": (datetime.now(UTC) - timedelta(minutes=5, seconds=20)).isoformat(),
    }


def test_each_is_a_line_below_a_heading(sless: Cli, deployed: dict[str, Any]) -> None:
    deployed["warnings"] = [warning(3), warning()]
    lines = sless("get", "hello").text.splitlines()
    at = lines.index("Warnings")
    said = "pod fn-hello-5d-x2x4z: No node takes the pod: too large. (FailedScheduling, "
    assert lines[at - 1] == ""
    assert lines[at + 1 : at + 3] == [f"{said}3 times, last 5m ago)", f"{said}once, 5m ago)"]
    assert json.loads(sless("get", "hello", "-o", "json").out)["warnings"] == deployed["warnings"]


def test_it_is_said_when_they_cannot_be_told(sless: Cli, deployed: dict[str, Any]) -> None:
    deployed["warnings"] = None
    done = sless("get", "hello")
    assert done.code == 0
    assert "What went wrong of late cannot be told just now." in done.text.splitlines()
    assert json.loads(sless("get", "hello", "-o", "json").out)["warnings"] is None


@pytest.mark.parametrize("more", [{}, {"warnings": []}])
def test_nothing_is_said_when_all_is_well(
    sless: Cli, deployed: dict[str, Any], more: dict[str, Any]
) -> None:
    deployed |= more
    text = sless("get", "hello").text
    assert "Phase" in text
    assert "arning" not in text
    assert "of late" not in text
