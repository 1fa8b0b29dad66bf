"""A scene with the watcher's own rights, behind a wire that a test can cut."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from kubernetes.aio.client import Configuration

from sless.adapters.kubernetes.client import ApiServer, connect
from sless.adapters.kubernetes.connection import read_configuration
from sless.adapters.kubernetes.gateways import GatewayService
from sless.adapters.kubernetes.scene import KubernetesScene
from sless.errors import StoreUnavailable
from sless.ports.scene import Standing
from tests.cluster.chart import SYSTEM
from tests.cluster.cut import Wire, wire_to
from tests.cluster.identity import write_kubeconfig
from tests.fixtures.waiting import until

NO_GATEWAYS = GatewayService(SYSTEM, "no-gateway", 8090)


@dataclass
class Scene:
    """Of one namespace: the cluster may be others' too, whose status is none of ours."""

    whole: KubernetesScene
    space: str
    server: ApiServer
    """The watcher's own connection."""
    wire: Wire

    async def look(self) -> Sequence[Standing]:
        """See the port."""
        found = await self.whole.look()
        return [each for each in found if each.stored.function.namespace == self.space]

    async def changed(self, *, seconds: float) -> bool:
        """See the port."""
        return await self.whole.changed(seconds=seconds)

    async def find(self, name: str) -> Standing | None:
        """A Function's; none before everything was listed."""
        with contextlib.suppress(StoreUnavailable):
            for each in await self.look():
                if each.stored.function.name == name:
                    return each
        return None

    async def get(self, name: str) -> Standing:
        """Waited for."""
        found = await until(lambda: self.find(name), pause=0.05)
        assert isinstance(found, Standing)
        return found

    async def settle(self) -> None:
        """Until everything was listed."""

        async def is_listed() -> bool:
            with contextlib.suppress(StoreUnavailable):
                await self.look()
                return True
            return False

        await until(is_listed, pause=0.05)


@contextlib.asynccontextmanager
async def watching(
    administrator: str,
    space: str,
    *,
    folder: Path,
    gateways: GatewayService = NO_GATEWAYS,
) -> AsyncIterator[Scene]:
    """From its start to its end."""
    configuration: Configuration = await read_configuration(administrator)
    address = urlsplit(configuration.host)
    assert address.hostname is not None
    root = await connect(administrator)
    async with wire_to(address.hostname, address.port or 443) as wire:
        path = folder / "watcher.kubeconfig"
        await write_kubeconfig(
            root, "watcher", administrator=administrator, path=path, port=wire.port
        )
        await root.close()
        server = await connect(str(path))
        try:
            async with KubernetesScene(server, kubeconfig=str(path), gateways=gateways) as whole:
                yield Scene(whole, space, server, wire)
                wire.cut()  # else TLS says goodbye to those that are silent, for long
        finally:
            await server.close()
