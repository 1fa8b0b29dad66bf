"""Envoy on Kubernetes, beside its writer: `python -m sless.cluster.envoy`."""

import os
import signal
import sys
import time

from sless.cluster.compose import check_home
from sless.cluster.envoy_folder import envoy_folder
from sless.errors import SlessError
from sless.gateway.bootstrap import GatewayPaths
from sless.gateway.command import envoy_command
from sless.roots.envoy_settings import envoy_settings
from sless.settings import Settings, read_settings

_POLL_SECONDS = 0.1


def run(settings: Settings) -> None:
    """Becomes Envoy, which drains on SIGTERM, as soon as its writer has written all it needs."""
    check_home(settings)
    folder = envoy_folder(settings)
    bootstrap = GatewayPaths(folder).bootstrap
    while not bootstrap.exists():
        time.sleep(_POLL_SECONDS)
    program, *words = envoy_command(envoy_settings(settings), folder)
    os.execv(program, [program, *words])  # noqa: S606  # our own command, and no shell


if __name__ == "__main__":
    # The first process of a container is not ended by a signal that it does not handle.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        run(read_settings())
    except SlessError as error:
        sys.exit(f"envoy: {error.message} [{error.reason}]")
