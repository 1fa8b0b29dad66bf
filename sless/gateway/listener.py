"""Envoy's listener: what is accepted from callers, and how it is passed on."""

from pathlib import Path

from sless.gateway.access_log import render_access_log
from sless.gateway.clusters import raw_case
from sless.gateway.failures import render_local_replies
from sless.gateway.lua import render_lua
from sless.gateway.proto import Json, extension, seconds
from sless.gateway.routes import ROUTE_TABLE
from sless.gateway.settings import GatewaySettings

STAT_PREFIX = "gateway"
"""Under `http.<this>.` lie the listener's statistics."""
_HCM = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"


def render_listener(settings: GatewaySettings, *, routes_file: Path) -> Json:
    """The one listener; its route table is read from `routes_file` and followed."""
    address = {"address": settings.host, "port_value": settings.port}
    http = extension(
        "envoy.filters.network.http_connection_manager", _HCM, _http(settings, routes_file)
    )
    return {
        "name": "gateway",
        "address": {"socket_address": address},
        # Else a second gateway on the port would silently share its callers.
        "enable_reuse_port": False,
        "per_connection_buffer_limit_bytes": settings.buffer,
        "filter_chains": [{"filters": [http]}],
    }


def _http(settings: GatewaySettings, routes_file: Path) -> Json:
    source = {"resource_api_version": "V3", "path_config_source": {"path": str(routes_file)}}
    return {
        "stat_prefix": STAT_PREFIX,
        "rds": {"route_config_name": ROUTE_TABLE, "config_source": source},
        "early_header_mutation_extensions": [_without_claims(settings)],
        "http_filters": [render_lua(settings), _router()],
        "access_log": [render_access_log(settings)],
        "local_reply_config": render_local_replies(),
        "upgrade_configs": [{"upgrade_type": "websocket"}],
        **_protocol(settings),
        **_raw_target(),
        **_identity(settings),
        **_timeouts(settings),
    }


def _without_claims(settings: GatewaySettings) -> Json:
    """Before Envoy reads them, what a caller may not say.

    On loopback every caller counts as internal, and would set retries, timeouts and request ids.
    """
    kind = "envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation"
    mutations: list[Json] = [_remove_all("x-envoy-")]
    if not settings.trusted_hops:
        claims = ("x-request-id", "forwarded", "x-real-ip")
        mutations += [_remove_all("x-forwarded-"), *({"remove": claim} for claim in claims)]
    return extension("without-claims", kind, {"mutations": mutations})


def _remove_all(prefix: str) -> Json:
    return {"remove_on_match": {"key_matcher": {"prefix": prefix, "ignore_case": True}}}


def _router() -> Json:
    # Without `x-envoy-*` to the function or the caller.
    options = {"suppress_envoy_headers": True}
    kind = "envoy.extensions.filters.http.router.v3.Router"
    return extension("envoy.filters.http.router", kind, options)


def _protocol(settings: GatewaySettings) -> Json:
    return {
        "codec_type": "AUTO",
        "http_protocol_options": {
            "accept_http_10": True,
            "default_host_for_http_10": settings.host,
            "header_key_format": raw_case(),
            # Some clients offer TLS upgrades in clear text; they mean "if you like".
            "ignore_http_11_upgrade": [{"prefix": "TLS/"}],
        },
        "http2_protocol_options": {
            # Envoy's advice for an edge: bounded memory per connection.
            "max_concurrent_streams": 100,
            "initial_stream_window_size": 65_536,
            "initial_connection_window_size": 1_048_576,
        },
        "max_request_headers_kb": settings.max_header_kib,
        "server_header_transformation": "PASS_THROUGH",
    }


def _raw_target() -> Json:
    """The function decides what `//`, `%2F` and `..` mean, byte for byte."""
    return {
        "normalize_path": False,
        "merge_slashes": False,
        "path_with_escaped_slashes_action": "KEEP_UNCHANGED",
    }


def _identity(settings: GatewaySettings) -> Json:
    """Who calls, and under which id."""
    return {
        "use_remote_address": True,
        "xff_num_trusted_hops": settings.trusted_hops,
        "skip_xff_append": True,  # edge.lua writes it
        "generate_request_id": True,
        "preserve_external_request_id": settings.trusted_hops > 0,
        "always_set_request_id_in_response": True,
    }


def _timeouts(settings: GatewaySettings) -> Json:
    return {
        "stream_idle_timeout": seconds(settings.stream_idle),
        "request_timeout": "0s",
        "request_headers_timeout": seconds(settings.headers_timeout),
        "common_http_protocol_options": {
            "idle_timeout": seconds(settings.connection_idle),
            "max_headers_count": settings.max_headers,
            # Else foo_bar and foo-bar could be one header to a function behind CGI.
            "headers_with_underscores_action": "ALLOW",
        },
    }
