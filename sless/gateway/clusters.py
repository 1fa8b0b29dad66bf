"""Envoy's clusters: one per function, named explicitly, with its endpoints."""

from collections.abc import Iterable

from sless.gateway.proto import Json, discovery, seconds, typed
from sless.gateway.route import Endpoint, Route, in_order
from sless.gateway.settings import GatewaySettings

METADATA = "sless"
"""Under this key of a cluster's metadata lies whose it is."""


def render_clusters(routes: Iterable[Route], settings: GatewaySettings) -> Json:
    """The DiscoveryResponse of all clusters; raises `InvalidSetting` for a function named twice."""
    return discovery([_render_cluster(route, settings) for route in in_order(routes)])


def _render_cluster(route: Route, settings: GatewaySettings) -> Json:
    return typed(
        "envoy.config.cluster.v3.Cluster",
        {
            "name": route.cluster,
            "type": "STATIC",
            "connect_timeout": seconds(settings.connect_timeout),
            "lb_policy": "ROUND_ROBIN",  # so that a retry meets another endpoint
            "per_connection_buffer_limit_bytes": settings.buffer,
            "circuit_breakers": {"thresholds": [_thresholds(settings)]},
            "typed_extension_protocol_options": {
                "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": _http(settings)
            },
            "load_assignment": {
                "cluster_name": route.cluster,
                "endpoints": [{"lb_endpoints": [_endpoint(each) for each in route.endpoints]}],
            },
            "metadata": {"filter_metadata": {METADATA: _identity(route)}},
        },
    )


def _identity(route: Route) -> Json:
    identity = {"namespace": route.namespace, "function": route.name, "uid": route.uid}
    if route.generation is not None:
        # As text: a protobuf number would print as 3.0.
        identity["generation"] = str(route.generation)
    return identity


def _endpoint(endpoint: Endpoint) -> Json:
    address = {"address": endpoint.host, "port_value": endpoint.port}
    return {"endpoint": {"address": {"socket_address": address}}}


def _thresholds(settings: GatewaySettings) -> Json:
    limits = ("max_connections", "max_pending_requests", "max_requests", "max_retries")
    return dict.fromkeys(limits, settings.max_requests)


def _http(settings: GatewaySettings) -> Json:
    """HTTP/1.1 to the function, with header names in the caller's own case."""
    return typed(
        "envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        {
            "common_http_protocol_options": {
                "idle_timeout": seconds(settings.upstream_idle),
                "max_headers_count": settings.max_headers,
                "max_response_headers_kb": settings.max_header_kib,
            },
            "explicit_http_config": {"http_protocol_options": {"header_key_format": raw_case()}},
        },
    )


def raw_case() -> Json:
    """Header names as they came, instead of in lower case."""
    case = "envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig"
    return {"stateful_formatter": {"name": "preserve_case", "typed_config": typed(case)}}
