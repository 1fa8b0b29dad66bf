"""What a part of the home is told: nothing of its user's own clouds."""

from pathlib import Path

import pytest
from temporalio.envconfig import ClientConfig

from sless.local.addresses import home_addresses
from sless.local.credentials import S3Credentials
from sless.local.environment import HomeFacts, part_environment, storing_environment
from sless.local.home_ports import HomePorts
from sless.local.layout import Layout
from sless.local.seaweed import SeaweedPorts

PORTS = HomePorts(
    api=1,
    gateway=2,
    ui=3,
    temporal=4,
    seaweed=SeaweedPorts(
        s3=5,
        s3_grpc=6,
        filer=7,
        filer_grpc=8,
        master=9,
        master_grpc=10,
        volume=11,
        volume_grpc=12,
    ),
)


@pytest.fixture
def facts(tmp_path: Path) -> HomeFacts:
    return HomeFacts(
        layout=Layout(tmp_path),
        host="127.0.0.1",
        ports=PORTS,
        addresses=home_addresses("127.0.0.1", PORTS),
        credentials=S3Credentials("id", "secret"),
    )


def test_the_users_own_variables_for_temporal_and_s3_stay_out(facts: HomeFacts) -> None:
    environ = {"TEMPORAL_API_KEY": "mine", "AWS_PROFILE": "mine", "SLESS_TOKEN": "mine", "A": "b"}
    told = storing_environment(environ, facts, part="api")
    assert "mine" not in told.values()
    assert told["A"] == "b"


def test_only_parts_that_store_are_told_the_credentials(facts: HomeFacts) -> None:
    assert "secret" not in part_environment({}, facts, part="runner").values()
    assert "secret" in storing_environment({}, facts, part="api").values()


def test_the_users_own_profile_for_temporal_stays_out(
    facts: HomeFacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = tmp_path / "temporalio" / "temporal.toml"
    profile.parent.mkdir()
    profile.write_text('[profile.default]\nnamespace = "mine"\napi_key = "mine"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    told = part_environment({}, facts, part="worker")
    assert ClientConfig.load_client_connect_config(override_env_vars=told) == {
        "target_host": "127.0.0.1:4",
        "namespace": "default",
    }
