"""A way to the API server that a test can cut."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from tests.fixtures.ports import free_port


@dataclass(slots=True)
class Way:
    """Carries bytes to and fro while it is open; by default it is."""

    target: tuple[str, int]
    port: int
    open: bool = True
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    def cut(self) -> None:
        """Ends what there is, and whatever comes at once."""
        self.open = False
        for writer in self._writers:
            writer.transport.abort()

    def mend(self) -> None:
        self.open = True

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.open:
            writer.transport.abort()
            return
        with contextlib.suppress(ConnectionError):
            back, forth = await asyncio.open_connection(*self.target)
            self._writers |= {writer, forth}
            await asyncio.gather(_pump(reader, forth), _pump(back, writer))
            self._writers -= {writer, forth}


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while content := await reader.read(65_536):
            writer.write(content)
            await writer.drain()
    finally:
        writer.close()


@contextlib.asynccontextmanager
async def severable(kubeconfig: str, folder: Path) -> AsyncIterator[tuple[Way, Path]]:
    """The way, and a kubeconfig that leads over it."""
    config = yaml.safe_load(Path(kubeconfig).read_text())
    (cluster,) = (each["cluster"] for each in config["clusters"])
    url = urlsplit(cluster["server"])
    assert url.hostname
    way = Way((url.hostname, url.port or 443), free_port())
    # The certificate is still the API server's.
    cluster |= {"server": f"https://127.0.0.1:{way.port}", "tls-server-name": url.hostname}
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    async with await asyncio.start_server(way.carry, "127.0.0.1", way.port):
        yield way, path
        way.cut()
