"""What the roots of either home refuse, and what they hand on."""

from pathlib import Path

import pytest

from sless.cluster.compose import check_home
from sless.errors import InvalidSetting
from sless.local.compose import home_layout
from sless.roots.envoy_settings import envoy_settings
from sless.settings import GatewaySettings, Settings


def test_the_data_folder_must_be_named() -> None:
    with pytest.raises(InvalidSetting, match="SLESS_DATA"):
        home_layout(Settings(data=None))


def test_another_homes_settings_are_refused() -> None:
    with pytest.raises(InvalidSetting, match="SLESS_HOME is kubernetes"):
        home_layout(Settings(home="kubernetes", data=Path("/data")))


def test_the_other_home_refuses_likewise() -> None:
    with pytest.raises(InvalidSetting, match="SLESS_HOME is embedded"):
        check_home(Settings())


def test_a_gateway_has_as_many_threads_as_an_operator_says() -> None:
    assert envoy_settings(Settings(gateway=GatewaySettings(concurrency=3))).concurrency == 3
