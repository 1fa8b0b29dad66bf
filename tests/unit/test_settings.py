"""Settings: where they come from, what is refused, and the page that lists them."""

from pathlib import Path

import pytest

from sless.errors import InvalidSetting
from sless.settings import read_settings
from sless.settings_page import render_page


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLESS_DATA", raising=False)


def test_a_group_and_a_name_make_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLESS_API__PORT", "9000")
    monkeypatch.setenv("SLESS_DATA", "/srv/home")
    monkeypatch.setenv("SLESS_RUNTIMES__OFFERED", '["python3.13"]')
    settings = read_settings()
    assert settings.api.port == 9000
    assert settings.api.host == "127.0.0.1"
    assert settings.data == Path("/srv/home")
    assert settings.runtimes.offered == ("python3.13",)


def test_a_services_links_are_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLESS_API_PORT", "tcp://10.0.0.1:80")
    monkeypatch.setenv("SLESS_API_PORT_80_TCP", "tcp://10.0.0.1:80")
    monkeypatch.setenv("SLESS_API_SERVICE_HOST", "10.0.0.1")
    assert read_settings().api.port == 8081


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("SLESS_API__PORT", "99999", "SLESS_API__PORT is '99999'"),
        ("SLESS_DEADLINES__BUILD", "soon", "SLESS_DEADLINES__BUILD is 'soon'"),
        ("SLESS_STORAGE__BUCKET", "My_Zips", "SLESS_STORAGE__BUCKET is 'My_Zips'"),
        ("SLESS_API__PROT", "1", "SLESS_API__PROT is no setting"),
        ("SLESS_API_URL", "http://x", "SLESS_API_URL is no setting: write SLESS_API__URL"),
        ("SLESS_STORGE__BUCKET", "b", "SLESS_STORGE__BUCKET is no setting"),
        ("SLESS_LOG_LEVEL", "loud", "SLESS_LOG_LEVEL is 'loud'"),
        ("SLESS_RUNTIMES__OFFERED", "python3.11", "SLESS_RUNTIMES"),
    ],
)
def test_what_cannot_be_is_refused_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(InvalidSetting, match=said):
        read_settings()


def test_the_page_lists_what_is_there() -> None:
    page = Path(__file__).parents[2] / "docs" / "settings.md"
    assert page.read_text() == render_page(), "run scripts/docs"
