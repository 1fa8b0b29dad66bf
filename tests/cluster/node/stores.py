"""What the cluster's neighbours are: two registries, S3, and Temporal."""

import asyncio
import base64
import contextlib
import dataclasses
import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

from sless.adapters.s3 import S3Objects, connect_s3
from sless.local.seaweed import SeaweedPorts, SeaweedServer, is_ready
from sless.local.temporal import TemporalServer
from tests.cluster.node.commands import start, stop, wait
from tests.cluster.node.place import (
    FILLING_PORT,
    S3_PORT,
    TEMPORAL_INNER_PORT,
    TEMPORAL_PORT,
    TEMPORAL_UI_PORT,
    Place,
)

USER, PASSWORD = "builder", "only-for-tests"
_HTPASSWD = f"{USER}:$2b$05$df3wBZ02R0tuEouwlwgR5eRqW3BiyjDMX3/ucyaF4OIbSPYcOa/qy\n"
"""By bcrypt, which is all that the registry takes."""
ACCESS_KEY, SECRET_KEY = "test", "only-for-tests"


def start_registry(place: Place) -> None:
    """Starts the one that asks for a password, and waits."""
    (place.folder / "htpasswd").write_text(_HTPASSWD)
    auth = {"htpasswd": {"realm": "test", "path": str(place.folder / "htpasswd")}}
    _start_registry(place, "registry", place.registry, {"auth": auth})


def start_bases(place: Place) -> None:
    """Starts the one that nobody may write, and waits."""
    readonly = {"maintenance": {"readonly": {"enabled": True}}}
    _start_registry(place, "bases", place.bases, {"storage": readonly})


@contextlib.contextmanager
def filling_bases(place: Place) -> Iterator[str]:
    """Another way to what `bases` has, for this machine alone and while the block lasts."""
    address = f"127.0.0.1:{FILLING_PORT}"
    _start_registry(place, "filling", address, {}, content="bases")
    try:
        yield address
    finally:
        stop(place, "filling")


def _start_registry(
    place: Place, name: str, address: str, more: dict[str, Any], *, content: str = ""
) -> None:
    storage = {
        "filesystem": {"rootdirectory": str(place.folder / (content or name))},
        "delete": {"enabled": True},
    }
    settings = {
        "version": "0.1",
        "log": {"level": "warn"},
        **more,
        "storage": storage | more.get("storage", {}),
        "http": {"addr": address},
    }
    file = place.folder / f"{name}.json"
    file.write_text(json.dumps(settings))  # JSON is YAML
    start(place, name, ["docker-registry", "serve", file.name])
    wait(place, name, lambda: _answers(f"http://{address}/v2/"))


def start_s3(place: Place) -> None:
    """Starts SeaweedFS and waits until it takes objects."""
    server = describe_s3(place)
    server.prepare(access_key=ACCESS_KEY, secret_key=SECRET_KEY)
    start(place, "weed", server.command())
    endpoint = server.endpoint(access_key=ACCESS_KEY, secret_key=SECRET_KEY)
    with contextlib.closing(S3Objects(connect_s3(endpoint, tries=1), "sless")) as objects:
        wait(place, "weed", lambda: asyncio.run(is_ready(objects)))


def start_temporal(place: Place) -> None:
    """Starts the dev server, and what leads pods to it, and waits.

    On an address that is neither loopback's nor all of them its own services do not find each
    other: they listen on it and are looked for on 127.0.0.1.
    """
    server = describe_temporal(place)
    start(place, "temporal", [*server.command(), f"--ui-ip={place.ip}"])
    _wait_for_temporal(place, "temporal", server.address)
    listen = f"TCP-LISTEN:{TEMPORAL_PORT},bind={place.ip},fork,reuseaddr"
    start(place, "temporal-door", ["socat", listen, f"TCP:{server.address}"])
    _wait_for_temporal(place, "temporal-door", f"{place.ip}:{TEMPORAL_PORT}")


def _wait_for_temporal(place: Place, name: str, address: str) -> None:
    program = describe_temporal(place).command()[0]
    health = [program, "operator", "cluster", "health", "--address", address]
    wait(
        place,
        name,
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
    """With its state beside the rest; for this machine alone."""
    return TemporalServer(
        place.folder / "temporal.db", port=TEMPORAL_INNER_PORT, ui_port=TEMPORAL_UI_PORT
    )


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):  # noqa: S310  # of our own making
            return True
    except urllib.error.HTTPError as error:
        error.close()
        return error.code == HTTPStatus.UNAUTHORIZED
    except OSError:
        return False


def credentials(place: Place) -> Path:
    """The file that `docker login` would write."""
    path = place.folder / "auth.json"
    # skopeo and buildah read nothing but `auth`.
    auth = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    path.write_text(json.dumps({"auths": {place.registry: {"auth": auth}}}))
    path.chmod(0o600)
    return path
