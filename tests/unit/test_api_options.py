"""The API's options: what follows from the settings, and what its root adds."""

from pathlib import Path

from api.options import api_options
from sless.archive import DEFAULT_LIMITS
from sless.roots.archive_limits import archive_limits
from sless.settings import ApiSettings, GatewaySettings, LimitsSettings, Settings


def test_options_follow_the_settings(tmp_path: Path) -> None:
    settings = Settings(
        api=ApiSettings(url="http://api.test/"),
        gateway=GatewaySettings(url="http://gateway.test/"),
        limits=LimitsSettings(packed_bytes=1, inflated_bytes=2, entries=3, request_bytes=4),
    )
    options = api_options(settings, spool=tmp_path, archive=archive_limits(settings.limits))
    assert options.api_url == "http://api.test"
    assert options.gateway_url == "http://gateway.test"
    assert options.runtimes == settings.runtimes.offered
    assert options.default_runtime == settings.runtimes.default
    assert options.request_bytes == 4
    archive = options.archive
    assert (archive.packed_bytes, archive.inflated_bytes, archive.entries) == (1, 2, 3)


def test_a_root_may_find_missing_runtimes_while_the_api_serves(tmp_path: Path) -> None:
    missing: dict[str, str] = {}
    options = api_options(
        Settings(), spool=tmp_path, archive=DEFAULT_LIMITS, missing_runtimes=missing
    )
    missing["node20"] = "Install Node 20."
    assert options.missing_runtimes["node20"] == "Install Node 20."
