"""The real registry (Debian's docker-registry): it asks for a password, by TLS or not."""

import base64
import contextlib
import hashlib
import json
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.fixtures.ports import free_port

USER, PASSWORD = "builder", "only-for-tests"
_HTPASSWD = f"{USER}:$2b$05$df3wBZ02R0tuEouwlwgR5eRqW3BiyjDMX3/ucyaF4OIbSPYcOa/qy\n"
"""By bcrypt, which is all that the registry takes."""
_OCI = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_START_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class RealRegistry:
    """A running one, and what a builder and a careless person do with it."""

    address: str
    folder: Path
    ca_file: Path | None = None

    @property
    def credentials(self) -> Path:
        """The file that `docker login` would write."""
        path = self.folder / "config.json"
        auth = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        path.write_text(json.dumps({"auths": {self.address: {"auth": auth}}}))
        return path

    @contextlib.contextmanager
    def client(self) -> Iterator[httpx.Client]:
        """For requests of a person who may do everything."""
        scheme = "https" if self.ca_file else "http"
        with httpx.Client(
            base_url=f"{scheme}://{self.address}",
            auth=(USER, PASSWORD),
            verify=ssl.create_default_context(cafile=self.ca_file) if self.ca_file else True,
        ) as client:
            yield client

    def push(self, repository: str, content: str, tag: str) -> str:
        """An image without layers whose configuration says so; its digest."""
        config = json.dumps({"content": content}).encode()
        with self.client() as client:
            descriptor = _push_blob(client, repository, config) | {"mediaType": _CONFIG}
            manifest = json.dumps(
                {"schemaVersion": 2, "mediaType": _OCI, "config": descriptor, "layers": []}
            ).encode()
            put = client.put(
                f"/v2/{repository}/manifests/{tag}",
                content=manifest,
                headers={"Content-Type": _OCI},
            )
            put.raise_for_status()
            return str(put.headers["docker-content-digest"])

    def remove(self, repository: str, digest: str) -> None:
        """Deletes an image."""
        with self.client() as client:
            client.delete(f"/v2/{repository}/manifests/{digest}").raise_for_status()


def _push_blob(client: httpx.Client, repository: str, content: bytes) -> dict[str, str | int]:
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    started = client.post(f"/v2/{repository}/blobs/uploads/")
    started.raise_for_status()
    where = httpx.URL(started.headers["location"]).copy_merge_params({"digest": digest})
    client.put(where, content=content).raise_for_status()
    return {"digest": digest, "size": len(content)}


@contextlib.contextmanager
def run_registry(folder: Path, *, tls: bool = False) -> Iterator[RealRegistry]:
    """One on loopback until the block ends."""
    folder.mkdir(parents=True, exist_ok=True)
    address = f"127.0.0.1:{free_port()}"
    (folder / "htpasswd").write_text(_HTPASSWD)
    ca_file = _make_certificate(folder) if tls else None
    (folder / "registry.json").write_text(json.dumps(_configuration(folder, address, tls=tls)))
    command = ["docker-registry", "serve", str(folder / "registry.json")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    registry = RealRegistry(address, folder, ca_file)
    try:
        _wait(registry)
        yield registry
    finally:
        process.kill()
        process.wait()


def _configuration(folder: Path, address: str, *, tls: bool) -> dict[str, object]:
    secured = {"tls": {"certificate": str(folder / "ca.pem"), "key": str(folder / "key.pem")}}
    return {
        "version": 0.1,
        "log": {"level": "warn"},
        "storage": {
            "filesystem": {"rootdirectory": str(folder / "data")},
            "delete": {"enabled": True},
        },
        "auth": {"htpasswd": {"realm": "registry", "path": str(folder / "htpasswd")}},
        "http": {"addr": address} | (secured if tls else {}),
    }


def _make_certificate(folder: Path) -> Path:
    arguments = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=registry"
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "ca.pem")]
    subprocess.run(["openssl", *arguments.split(), *names, *files], check=True, capture_output=True)
    return folder / "ca.pem"


def _wait(registry: RealRegistry) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        with contextlib.suppress(httpx.TransportError), registry.client() as client:
            if client.get("/v2/").is_success:
                return
        if time.monotonic() > deadline:
            raise TimeoutError((registry.folder / "log").read_text())
        time.sleep(0.05)
