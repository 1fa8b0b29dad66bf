"""The files Envoy follows: whole, renamed into place, touched only when they change."""

import json
from pathlib import Path

import pytest

from sless.errors import GatewayUnavailable, InvalidSetting
from sless.gateway.files import GatewayFiles
from sless.gateway.route import Endpoint, Route
from sless.gateway.settings import GatewaySettings

HELLO = Route("a", "hello", "u1", 1, (Endpoint("127.0.0.1", 9001),))
MOVED = Route("a", "hello", "u1", 2, (Endpoint("127.0.0.1", 9002),))
OTHER = Route("a", "other", "u2", 1, (Endpoint("127.0.0.1", 9003),))


@pytest.fixture
def gateway(tmp_path: Path) -> GatewayFiles:
    files = GatewayFiles(tmp_path, GatewaySettings())
    files.write_bootstrap()
    return files


def names(path: Path) -> list[str]:
    return [resource["name"] for resource in json.loads(path.read_bytes())["resources"]]


def test_envoy_can_start_before_there_is_a_function(gateway: GatewayFiles) -> None:
    assert names(gateway.paths.clusters) == []
    assert names(gateway.paths.routes) == ["functions"]


def test_the_same_routes_are_the_same_version_and_touch_nothing(gateway: GatewayFiles) -> None:
    version = gateway.apply([HELLO, OTHER])
    before = [gateway.paths.clusters.stat().st_ino, gateway.paths.routes.stat().st_ino]
    assert gateway.apply([OTHER, HELLO]) == version
    assert [gateway.paths.clusters.stat().st_ino, gateway.paths.routes.stat().st_ino] == before


def test_a_moved_endpoint_rewrites_the_clusters_alone(gateway: GatewayFiles) -> None:
    version = gateway.apply([HELLO])
    routes, clusters = gateway.paths.routes.stat().st_ino, gateway.paths.clusters.stat().st_ino
    assert gateway.apply([MOVED]) != version
    assert gateway.paths.routes.stat().st_ino == routes
    assert gateway.paths.clusters.stat().st_ino != clusters


def test_a_cluster_outlives_its_route_by_one_call(gateway: GatewayFiles) -> None:
    gateway.apply([HELLO, OTHER])
    gateway.apply([OTHER])
    assert b"/fn/a/hello" not in gateway.paths.routes.read_bytes()
    assert names(gateway.paths.clusters) == ["fn/a/hello", "fn/a/other"]
    gateway.apply([OTHER])
    assert names(gateway.paths.clusters) == ["fn/a/other"]


def test_a_refused_table_changes_nothing(gateway: GatewayFiles) -> None:
    gateway.apply([HELLO])
    before = gateway.paths.clusters.read_bytes(), gateway.paths.routes.read_bytes()
    with pytest.raises(InvalidSetting):
        gateway.apply([HELLO, MOVED])
    assert (gateway.paths.clusters.read_bytes(), gateway.paths.routes.read_bytes()) == before


def test_leftovers_of_a_crash_are_harmless(gateway: GatewayFiles, tmp_path: Path) -> None:
    version = gateway.apply([HELLO])
    leftover = gateway.paths.clusters.parent / ".clusters.json-abc"
    leftover.write_bytes(b'{"version_info":')
    gateway.paths.routes.write_bytes(b"")  # as after a power cut
    again = GatewayFiles(tmp_path, GatewaySettings())
    again.write_bootstrap()
    assert not leftover.exists()
    assert again.apply([HELLO]) == version
    assert names(gateway.paths.routes) == ["functions"]


def test_files_that_cannot_be_written_are_a_bad_minute(gateway: GatewayFiles) -> None:
    folder = gateway.paths.clusters.parent
    moved = folder.rename(folder.with_name("moved"))
    folder.write_bytes(b"")  # as a full disk: nothing can be made below it
    with pytest.raises(GatewayUnavailable, match=str(folder)):
        gateway.apply([HELLO])
    folder.unlink()
    moved.rename(folder)
    gateway.apply([HELLO])
    assert names(gateway.paths.clusters) == ["fn/a/hello"]


async def test_waiting_for_an_envoy_that_does_not_run_says_so(gateway: GatewayFiles) -> None:
    with pytest.raises(GatewayUnavailable, match=r"within 0\.1 s"):
        await gateway.wait_applied(gateway.apply([HELLO]), 0.1)
