"""The watcher on Kubernetes: `python -m sless.cluster.watcher`."""

from sless.adapters.kubernetes.functions import KubernetesFunctions
from sless.adapters.kubernetes.gateways import GatewayService
from sless.adapters.kubernetes.scene import KubernetesScene
from sless.cluster.compose import open_server
from sless.readiness import tell_ready
from sless.roots.connect import connect_temporal, make_runs, open_objects
from sless.roots.process import run_role
from sless.settings import Settings
from sless.watcher.loop import Watcher


async def watch(settings: Settings) -> None:
    """Judges every Function until it is cancelled."""
    gateways = GatewayService(
        namespace=settings.gateway.namespace,
        name=settings.gateway.service,
        port=settings.gateway.tell_port,
    )
    client = await connect_temporal(settings)
    async with (
        open_objects(settings) as objects,
        open_server(settings) as server,
        KubernetesScene(server, gateways=gateways) as scene,
    ):
        watcher = Watcher(
            scene=scene,
            functions=KubernetesFunctions(server),
            objects=objects,
            runs=make_runs(settings, client),
            gateway_url=settings.gateway.url,
            heartbeat=settings.ready_file,
        )
        tell_ready(settings)
        await watcher.run()


if __name__ == "__main__":
    run_role(watch, part="watcher")
