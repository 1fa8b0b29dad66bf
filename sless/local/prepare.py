"""What has to lie in the data folder before the parts are started."""

import shutil
from pathlib import Path

from sless.gateway.command import envoy_command
from sless.gateway.files import GatewayFiles
from sless.local.credentials import S3Credentials, ensure_s3_credentials, write_token
from sless.local.layout import Layout
from sless.local.seaweed import SeaweedServer
from sless.roots.envoy_settings import envoy_settings
from sless.settings import Settings


def prepare_credentials(layout: Layout) -> S3Credentials:
    """Writes the token; S3's credentials."""
    write_token(layout)
    return ensure_s3_credentials(layout.s3_credentials)


def prepare_seaweed(server: SeaweedServer, credentials: S3Credentials) -> None:
    """Writes its config, and removes what an earlier run has no use for."""
    server.prepare(access_key=credentials.access_key_id, secret_key=credentials.secret_access_key)
    server.remove_sockets()


def prepare_envoy(settings: Settings, layout: Layout) -> list[str]:
    """Writes Envoy's files, which route nothing yet; the command that runs it.

    Routes of a former life may name ports that belong to somebody else by now.
    """
    _empty(layout.envoy)
    chosen = envoy_settings(settings)
    GatewayFiles(layout.envoy, chosen).write_bootstrap()
    return envoy_command(chosen, layout.envoy)


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
