"""A kubeconfig whose way to the API server a test can cut."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from tests.cluster.cut import Wire, wire_to


@contextlib.asynccontextmanager
async def severable(kubeconfig: str, folder: Path) -> AsyncIterator[tuple[Wire, Path]]:
    """The way, and the file, which is the same otherwise."""
    config = yaml.safe_load(Path(kubeconfig).read_text())
    (cluster,) = (each["cluster"] for each in config["clusters"])
    url = urlsplit(cluster["server"])
    assert url.hostname
    async with wire_to(url.hostname, url.port or 443) as wire:
        # The certificate is still the API server's.
        cluster |= {"server": f"https://127.0.0.1:{wire.port}", "tls-server-name": url.hostname}
        path = folder / "kubeconfig"
        path.write_text(yaml.safe_dump(config))
        yield wire, path
