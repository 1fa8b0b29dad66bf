"""What is prepared for SeaweedFS, and what is removed, before and after it runs."""

import json
import stat
from pathlib import Path

import pytest

from sless.adapters.s3 import S3Endpoint
from sless.local.seaweed import SEAWEED_PORTS, SeaweedPorts, SeaweedServer, render_s3_config

PORTS = SeaweedPorts(
    s3=1, s3_grpc=2, filer=3, filer_grpc=4, master=5, master_grpc=6, volume=7, volume_grpc=8
)


@pytest.fixture
def server(tmp_path: Path) -> SeaweedServer:
    return SeaweedServer(folder=tmp_path / "s3", config=tmp_path / "s3.json", ports=PORTS)


def test_its_secrets_are_its_owners_alone(server: SeaweedServer) -> None:
    server.prepare(access_key="key", secret_key="hush-hush")
    assert stat.S_IMODE(server.config.stat().st_mode) == 0o600
    assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700
    content = json.loads(server.config.read_text())
    assert content == render_s3_config(access_key="key", secret_key="hush-hush")
    assert "hush-hush" not in " ".join(server.command())
    assert "hush-hush" not in repr(server.endpoint(access_key="key", secret_key="hush-hush"))


def test_data_of_earlier_runs_stays_and_their_elections_go(server: SeaweedServer) -> None:
    server.prepare(access_key="key", secret_key="hush-hush")
    for name in ("m12345", "filerldb2"):
        (server.folder / name).mkdir()
        (server.folder / name / "file").touch()
    (server.folder / "sless_1.dat").touch()
    server.prepare(access_key="key", secret_key="hush-hush")
    assert sorted(path.name for path in server.folder.iterdir()) == ["filerldb2", "sless_1.dat"]


def test_every_port_is_named_and_none_is_left_to_chance(server: SeaweedServer) -> None:
    ports = [flag.split("=")[1] for flag in server.command() if ".port" in flag]
    assert sorted(ports) == sorted([*map(str, range(1, SEAWEED_PORTS + 1)), "0", "0"])
    assert server.endpoint(access_key="a", secret_key="b") == S3Endpoint(
        url="http://127.0.0.1:1", access_key="a", secret_key="b"
    )
