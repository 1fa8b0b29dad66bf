"""The embedded home's S3: one SeaweedFS server, which is four servers with two ports each."""

import asyncio
import json
import shutil
import sys
import time
from dataclasses import dataclass, fields
from pathlib import Path

from sless.adapters.s3 import S3Endpoint, S3Objects
from sless.errors import StorageUnavailable
from sless.files import write_atomically

_POLL_SECONDS = 0.1
_SOCKETS = ("filer.sock", "s3.sock")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeaweedPorts:
    """Every port that it listens on; the gRPC ones would else be 10 000 above the others."""

    s3: int
    s3_grpc: int
    filer: int
    filer_grpc: int
    master: int
    master_grpc: int
    volume: int
    volume_grpc: int


SEAWEED_PORTS = len(fields(SeaweedPorts))
"""How many ports it takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeaweedServer:
    """Where the server listens and keeps its state.

    It is ended by SIGKILL: at SIGTERM its filer waits 15 s for subscribers of its own. It loses
    nothing by that, as each write was handed to the kernel before it was answered.
    """

    folder: Path
    """Its data, and its working directory."""
    config: Path
    """The file with the one identity that may do everything."""
    ports: SeaweedPorts
    host: str = "127.0.0.1"

    @property
    def url(self) -> str:
        """The S3 endpoint."""
        return f"http://{self.host}:{self.ports.s3}"

    def endpoint(self, *, access_key: str, secret_key: str) -> S3Endpoint:
        """What a client connects to."""
        return S3Endpoint(url=self.url, access_key=access_key, secret_key=secret_key)

    def prepare(self, *, access_key: str, secret_key: str) -> None:
        """Makes the folder and the config, and removes what an earlier run has no use for."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for stale in self.folder.glob("m[0-9]*"):
            shutil.rmtree(stale)  # an election's state, named by a port of an earlier run
        content = json.dumps(render_s3_config(access_key=access_key, secret_key=secret_key))
        write_atomically(self.config, content.encode())

    def remove_sockets(self) -> None:
        """Removes the sockets that it leaves behind, some of them where it cannot be told."""
        for name in _SOCKETS:
            (self.folder / name).unlink(missing_ok=True)
        for part in ("s3", "filer", "master", "volume"):
            port = getattr(self.ports, f"{part}_grpc")
            Path(f"/tmp/seaweedfs-{part}-grpc-{port}.sock").unlink(missing_ok=True)  # noqa: S108  # weed's own choice

    def command(self) -> list[str]:
        """Starts it in the foreground, with `folder` as the working directory."""
        return [
            str(Path(sys.executable).parent / "weed"),
            "-logtostderr",
            "server",
            f"-dir={self.folder}",
            f"-ip={self.host}",
            f"-ip.bind={self.host}",
            *self._master(),
            *self._volume(),
            *self._filer(),
            *self._s3(),
        ]

    def _master(self) -> list[str]:
        return [
            f"-master.port={self.ports.master}",
            f"-master.port.grpc={self.ports.master_grpc}",
            "-master.telemetry=false",
            # Alone, it need not look for others: ready in 2 s instead of 3 to 8.
            "-master.peers=none",
            # Small volumes, so that what was deleted is reclaimed in small steps.
            "-master.volumeSizeLimitMB=64",
        ]

    def _volume(self) -> list[str]:
        return [
            f"-volume.port={self.ports.volume}",
            f"-volume.port.grpc={self.ports.volume_grpc}",
            "-volume.max=0",  # as many as the disk takes, instead of 8
            # It is the only one: nobody need be told before it stops.
            "-volume.preStopSeconds=0",
        ]

    def _filer(self) -> list[str]:
        return [
            f"-filer.port={self.ports.filer}",
            f"-filer.port.grpc={self.ports.filer_grpc}",
            f"-filer.localSocket={_SOCKETS[0]}",
        ]

    def _s3(self) -> list[str]:
        return [
            "-s3",
            f"-s3.config={self.config}",
            f"-s3.port={self.ports.s3}",
            f"-s3.port.grpc={self.ports.s3_grpc}",
            f"-s3.localSocket={_SOCKETS[1]}",
            # Left at their defaults, it dies when one of these is taken.
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            "-s3.iam=false",
        ]


def render_s3_config(*, access_key: str, secret_key: str) -> dict[str, object]:
    """The content of `config`, for `json.dumps`: one identity that may do everything."""
    credentials = [{"accessKey": access_key, "secretKey": secret_key}]
    actions = ["Admin", "Read", "Write", "List", "Tagging"]
    return {"identities": [{"name": "sless", "credentials": credentials, "actions": actions}]}


async def is_ready(objects: S3Objects) -> bool:
    """Whether it takes objects; makes the bucket. A client of one try answers soonest."""
    try:
        await objects.ensure_bucket()
        await objects.probe()
    except StorageUnavailable:
        return False
    return True


async def wait_ready(objects: S3Objects, *, within: float) -> None:
    """Returns once it takes objects; raises `StorageUnavailable` after so many seconds."""
    deadline = time.monotonic() + within
    while not await is_ready(objects):
        if time.monotonic() > deadline:
            raise StorageUnavailable(f"SeaweedFS did not take objects within {within:.0f} s.")
        await asyncio.sleep(_POLL_SECONDS)
