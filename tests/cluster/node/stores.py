"""What the cluster's neighbours are: a registry that asks for a password, S3, and Temporal."""

import asyncio
import contextlib
import dataclasses
import json
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from sless.adapters.s3 import S3Objects, connect_s3
from sless.local.seaweed import SeaweedPorts, SeaweedServer, is_ready
from sless.local.temporal import TemporalServer
from tests.cluster.node.commands import start, wait
from tests.cluster.node.place import (
    REGISTRY_PORT,
    S3_PORT,
    TEMPORAL_PORT,
    TEMPORAL_UI_PORT,
    Place,
)

USER, PASSWORD = "builder", "only-for-tests"
_HTPASSWD = f"{USER}:$2b$05$df3wBZ02R0tuEouwlwgR5eRqW3BiyjDMX3/ucyaF4OIbSPYcOa/qy\n"
"""By bcrypt, which is all that the registry takes."""
ACCESS_KEY, SECRET_KEY = "test", "only-for-tests"


def start_registry(place: Place) -> None:
    """Starts it and waits."""
    (place.folder / "htpasswd").write_text(_HTPASSWD)
    content = {
        "version": "0.1",
        "log": {"level": "warn"},
        "storage": {
            "filesystem": {"rootdirectory": str(place.folder / "registry")},
            "delete": {"enabled": True},
        },
        "http": {"addr": f"0.0.0.0:{REGISTRY_PORT}"},
        "auth": {"htpasswd": {"realm": "test", "path": str(place.folder / "htpasswd")}},
    }
    (place.folder / "registry.yml").write_text(json.dumps(content))
    start(place, "registry", ["docker-registry", "serve", "registry.yml"])
    wait(place, "registry", lambda: _asks_who(f"http://{place.registry}/v2/"))


def start_s3(place: Place) -> None:
    """Starts SeaweedFS and waits until it takes objects."""
    server = describe_s3(place)
    server.prepare(access_key=ACCESS_KEY, secret_key=SECRET_KEY)
    start(place, "weed", server.command())
    endpoint = server.endpoint(access_key=ACCESS_KEY, secret_key=SECRET_KEY)
    with contextlib.closing(S3Objects(connect_s3(endpoint, tries=1), "sless")) as objects:
        wait(place, "weed", lambda: asyncio.run(is_ready(objects)))


def start_temporal(place: Place) -> None:
    """Starts the dev server and waits."""
    server = describe_temporal(place)
    start(place, "temporal", server.command())
    health = [server.command()[0], "operator", "cluster", "health", "--address", server.address]
    wait(
        place,
        "temporal",
        lambda: subprocess.run(health, capture_output=True, check=False).returncode == 0,
    )


def describe_s3(place: Place) -> SeaweedServer:
    """Its S3 port is told to people; the others are counted on from there."""
    names = [field.name for field in dataclasses.fields(SeaweedPorts)]
    ports = SeaweedPorts(**{name: S3_PORT + at for at, name in enumerate(names)})
    return SeaweedServer(
        folder=place.folder / "s3", config=place.folder / "s3.json", ports=ports, host=place.ip
    )


def describe_temporal(place: Place) -> TemporalServer:
    """With its state beside the rest."""
    return TemporalServer(
        place.folder / "temporal.db", port=TEMPORAL_PORT, ui_port=TEMPORAL_UI_PORT, host=place.ip
    )


def _asks_who(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=2)  # noqa: S310  # of our own making
    except urllib.error.HTTPError as error:
        error.close()
        return error.code == 401
    except OSError:
        return False
    return True


def credentials(place: Place) -> Path:
    """The file that `docker login` would write."""
    path = place.folder / "auth.json"
    path.write_text(
        json.dumps({"auths": {place.registry: {"username": USER, "password": PASSWORD}}})
    )
    path.chmod(0o600)
    return path
