"""Envoy's route table: a tree over the path, so that a request costs the same among thousands."""

from collections.abc import Iterable

from sless.gateway.proto import Json, discovery, extension, typed
from sless.gateway.route import Route, in_order

ROUTE_TABLE = "functions"
"""The name under which the listener asks for the table."""

_RETRIES: Json = {
    # Only where nothing was sent: a POST is never delivered twice.
    "retry_on": "connect-failure,refused-stream,reset-before-request",
    "num_retries": 2,
    "retry_host_predicate": [
        extension(
            "envoy.retry_host_predicates.previous_hosts",
            "envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate",
        )
    ],
    "host_selection_retry_max_attempts": 3,
}


def render_routes(routes: Iterable[Route]) -> Json:
    """The DiscoveryResponse of the one route table; raises `InvalidSetting` likewise."""
    host: Json = {"name": "functions", "domains": ["*"], "retry_policy": _RETRIES}
    keys = {route.prefix: _on_match(route) for route in in_order(routes)}
    if keys:  # Envoy refuses an empty map; without a matcher everything is 404
        host["matcher"] = {"matcher_tree": {"input": _path(), "prefix_match_map": {"map": keys}}}
    table = {"name": ROUTE_TABLE, "virtual_hosts": [host]}
    return discovery([typed("envoy.config.route.v3.RouteConfiguration", table)])


def _path() -> Json:
    """The raw `:path`, query included."""
    input_type = "envoy.type.matcher.v3.HttpRequestHeaderMatchInput"
    return extension("path", input_type, {"header_name": ":path"})


def _on_match(route: Route) -> Json:
    """Below the function's path or exactly it; `/fn/a/bc` reaches `/fn/a/b` and matches neither."""
    below = _to_function(route, {"prefix": f"{route.prefix}/"})
    exactly = _to_function(route, {"path": route.prefix})
    routes = {"routes": [below, exactly]}
    return {"action": extension("route", "envoy.config.route.v3.RouteList", routes)}


def _to_function(route: Route, match: Json) -> Json:
    action = {
        "cluster": route.cluster,
        "prefix_rewrite": "/",
        "timeout": "0s",  # no limit on the whole: the listener's idle timeout watches
    }
    return {"match": {**match, "case_sensitive": True}, "route": action}
