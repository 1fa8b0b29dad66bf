"""Envoy's bootstrap: the one file it is started with, and where it finds the others."""

from dataclasses import dataclass
from pathlib import Path

from sless.errors import InvalidSetting
from sless.gateway.listener import render_listener
from sless.gateway.proto import Json, extension
from sless.gateway.settings import GatewaySettings

_SOCKET_PATH_MAX = 107
"""Bytes in a Unix socket's path: the kernel's limit, less the final NUL."""


@dataclass(frozen=True, slots=True)
class GatewayPaths:
    """Where things lie in the gateway's folder.

    Each followed file has a folder of its own: Envoy watches folders.
    """

    folder: Path

    @property
    def bootstrap(self) -> Path:
        """What Envoy is started with."""
        return self.folder / "bootstrap.json"

    @property
    def clusters(self) -> Path:
        """Followed by Envoy."""
        return self.folder / "clusters" / "clusters.json"

    @property
    def routes(self) -> Path:
        """Followed by Envoy."""
        return self.folder / "routes" / "routes.json"

    @property
    def admin(self) -> Path:
        """Envoy's admin interface, for this user alone."""
        return self.folder / "admin.sock"

    @property
    def log(self) -> Path:
        """Envoy's own warnings."""
        return self.folder / "envoy.log"


def render_bootstrap(settings: GatewaySettings, folder: Path) -> Json:
    """The bootstrap for an Envoy whose files lie in that absolute folder.

    Raises `InvalidSetting` where the admin's socket could not be bound.
    """
    paths = GatewayPaths(folder)
    return {
        "node": {"id": "gateway", "cluster": "sless"},
        "admin": {"address": {"pipe": {"path": _socket(paths.admin), "mode": 0o600}}},
        "dynamic_resources": {"cds_config": _followed(paths.clusters)},
        "static_resources": {"listeners": [render_listener(settings, routes_file=paths.routes)]},
        "stats_config": {"stats_matcher": {"inclusion_list": {"patterns": _statistics()}}},
        "overload_manager": {"resource_monitors": [_connections(settings)]},
    }


def _socket(path: Path) -> str:
    if len(bytes(path)) > _SOCKET_PATH_MAX:
        raise InvalidSetting(
            f"{path} is too long for a Unix socket ({_SOCKET_PATH_MAX} bytes): "
            "choose a data folder with a shorter path."
        )
    return str(path)


def _followed(path: Path) -> Json:
    return {"resource_api_version": "V3", "path_config_source": {"path": str(path)}}


def _statistics() -> list[Json]:
    """Of each cluster only these few: all of them are 50 KB a function."""
    ours = ("cluster_manager.", "http.", "listener", "server.", "overload.")
    per_function = ("upstream_rq_total", "upstream_rq_active", "upstream_rq_5xx")
    return [
        *({"prefix": prefix} for prefix in ours),
        *({"suffix": f".{suffix}"} for suffix in per_function),
    ]


def _connections(settings: GatewaySettings) -> Json:
    kind = (
        "envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig"
    )
    name = "envoy.resource_monitors.global_downstream_max_connections"
    limit = {"max_active_downstream_connections": settings.max_connections}
    return extension(name, kind, limit)
