"""Envoy's configuration as a pure function: deterministic, complete, no prefix confusion."""

import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sless.errors import InvalidName, InvalidSetting
from sless.gateway.bootstrap import render_bootstrap
from sless.gateway.clusters import render_clusters
from sless.gateway.failures import FAILURES
from sless.gateway.lua import render_lua
from sless.gateway.proto import Json, dump
from sless.gateway.route import Endpoint, Route
from sless.gateway.routes import render_routes
from sless.gateway.settings import GatewaySettings

SETTINGS = GatewaySettings()
LABELS = st.text("ab-1", min_size=1, max_size=4).filter(lambda text: text.strip("-") == text)
ROUTES = st.builds(
    Route,
    namespace=LABELS,
    name=LABELS,
    uid=st.just("u"),
    generation=st.integers(1, 9) | st.none(),
    endpoints=st.lists(
        st.builds(Endpoint, host=st.just("127.0.0.1"), port=st.integers(1, 65_535)), max_size=2
    ).map(tuple),
)
TABLES = st.lists(ROUTES, max_size=8, unique_by=lambda route: route.prefix)


def find_cluster(table: Json, target: str) -> str | None:
    """Where Envoy would send that request: the longest prefix of the map, then its routes."""
    host = table["resources"][0]["virtual_hosts"][0]
    if "matcher" not in host:
        return None
    keys = host["matcher"]["matcher_tree"]["prefix_match_map"]["map"]
    found = max((key for key in keys if target.startswith(key)), key=len, default=None)
    if found is None:
        return None
    path = target.partition("?")[0]
    for route in keys[found]["action"]["typed_config"]["routes"]:
        match = route["match"]
        if path == match.get("path") or path.startswith(match.get("prefix", "?")):
            return str(route["route"]["cluster"])
    return None


@given(TABLES, LABELS, LABELS, st.sampled_from(["", "/", "?x", "/?", "//", "/x/fn/a/b/", "b/"]))
def test_a_request_reaches_the_function_of_its_path_or_none(
    routes: list[Route], namespace: str, name: str, rest: str
) -> None:
    target = f"/fn/{namespace}/{name}{rest}"
    segments = target.partition("?")[0].split("/")
    meant = "/".join(segments[1:4])
    known = {route.cluster for route in routes}
    assert find_cluster(render_routes(routes), target) == (meant if meant in known else None)


@given(TABLES)
def test_every_route_names_a_cluster_that_exists(routes: list[Route]) -> None:
    clusters = {each["name"] for each in render_clusters(routes, SETTINGS)["resources"]}
    table = dump(render_routes(routes)).decode()
    assert clusters == {route.cluster for route in routes}
    assert all(f'"cluster":"{name}"' in table for name in clusters)
    assert table.count('"cluster":') == 2 * len(clusters)


@given(TABLES, st.randoms())
def test_order_does_not_matter(routes: list[Route], random: Random) -> None:
    shuffled = list(routes)
    random.shuffle(shuffled)
    assert dump(render_routes(routes)) == dump(render_routes(shuffled))
    assert dump(render_clusters(routes, SETTINGS)) == dump(render_clusters(shuffled, SETTINGS))


def test_a_moved_endpoint_leaves_the_route_table_alone() -> None:
    before = Route("a", "b", "u", 1, (Endpoint("127.0.0.1", 1),))
    after = Route("a", "b", "u", 2, (Endpoint("127.0.0.1", 2),))
    assert render_routes([before]) == render_routes([after])
    old, new = render_clusters([before], SETTINGS), render_clusters([after], SETTINGS)
    assert old["version_info"] != new["version_info"]


def test_a_function_named_twice_is_refused() -> None:
    twice = [Route("a", "b", "u1", 1), Route("a", "b", "u1", None)]
    with pytest.raises(InvalidSetting, match="/fn/a/b"):
        render_routes(twice)
    with pytest.raises(InvalidSetting, match="/fn/a/b"):
        render_clusters(twice, SETTINGS)


def test_a_generation_is_told_where_it_is_known() -> None:
    known, unknown = (Route("a", name, "u", 1 if name == "b" else None) for name in ("b", "c"))
    clusters = render_clusters([known, unknown], SETTINGS)["resources"]
    told = [each["metadata"]["filter_metadata"]["sless"].get("generation") for each in clusters]
    assert told == ["1", None]


@pytest.mark.parametrize("name", ["x.kube-system.svc", "@evil", "", "..", "a/b", "A", "_", "a b"])
def test_what_is_no_name_is_no_route(name: str) -> None:
    with pytest.raises(InvalidName):
        Route("a", name, "u", 1)
    with pytest.raises(InvalidName):
        Route(name, "a", "u", 1)


@pytest.mark.parametrize(
    ("host", "port"), [("evil.example", 80), ("127.0.0.1", 0), ("::1", 65_536)]
)
def test_an_endpoint_is_an_address_and_a_port(host: str, port: int) -> None:
    with pytest.raises(InvalidSetting):
        Endpoint(host, port)


def test_only_named_clusters_no_timeout_and_retries_before_sending() -> None:
    text = dump(render_routes([Route("a", "b", "u", 1)])).decode()
    assert '"retry_on":"connect-failure,refused-stream,reset-before-request"' in text
    assert text.count('"timeout":"0s"') == 2  # Envoy's default cuts every answer after 15 s
    everything = text + dump(render_bootstrap(SETTINGS, Path("/x"))).decode()
    assert "dynamic_forward_proxy" not in everything
    assert "cluster_header" not in everything
    assert "max_stream_duration" not in everything


def test_a_folder_too_deep_for_a_socket_is_refused_in_a_sentence() -> None:
    with pytest.raises(InvalidSetting, match="shorter path"):
        render_bootstrap(SETTINGS, Path("/" + "x" * 120))


def test_an_issuer_cannot_end_the_lua_text_it_is_written_in() -> None:
    settings = GatewaySettings(token_issuers=('https://é"]] = 1 } os.exit() --\n\\',))
    code = render_lua(settings)["typed_config"]["default_source_code"]["inline_string"]
    line = next(line for line in code.splitlines() if "TOKEN_ISSUERS =" in line)
    literal = line[line.index('"') + 1 : line.rindex('"')]
    assert set(literal) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\\")
    assert literal.startswith("https\\058\\047\\047\\195\\169\\034")


def test_each_failure_is_told_apart() -> None:
    reasons = [failure.reason for failure in FAILURES]
    assert len(set(reasons)) == len(reasons)
    assert {failure.layer for failure in FAILURES} == {"caller", "gateway", "function"}
    bodies = json.dumps(render_bootstrap(SETTINGS, Path("/x")))
    assert all(f'"reason": "{reason}"' in bodies for reason in reasons)
