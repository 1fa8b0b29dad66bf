"""What Temporal's variables must name before anything connects."""

from pathlib import Path

import pytest

from sless.errors import InvalidSetting, WorkflowsUnavailable
from sless.roots.connect import connect_temporal
from sless.settings import DeadlinesSettings, Settings

CA = "TEMPORAL_TLS_SERVER_CA_CERT_PATH"


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("TEMPORAL_ADDRESS", "TEMPORAL_CONFIG_FILE", CA):
        monkeypatch.delenv(name, raising=False)


async def test_no_address_is_named() -> None:
    with pytest.raises(InvalidSetting, match="TEMPORAL_ADDRESS must name"):
        await connect_temporal(Settings())


async def test_a_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:9")
    monkeypatch.setenv(CA, "/nowhere/ca.pem")
    with pytest.raises(InvalidSetting, match=r"/nowhere/ca\.pem"):
        await connect_temporal(Settings())


async def test_a_server_that_is_away_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:9")
    settings = Settings(deadlines=DeadlinesSettings(start=1))
    with pytest.raises(WorkflowsUnavailable, match=r"Temporal at 127\.0\.0\.1:9 .*refused"):
        await connect_temporal(settings)
