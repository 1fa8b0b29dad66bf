"""The API on Kubernetes: `python -m sless.cluster.api`."""

import tempfile
from pathlib import Path

from api.app import create_app
from api.options import api_options
from api.server import make_server
from api.services import Ports
from sless.adapters.kubernetes.functions import KubernetesFunctions
from sless.adapters.kubernetes.warnings import KubernetesWarnings
from sless.adapters.oidc_verifiers import open_verifier
from sless.cluster.compose import open_server
from sless.roots.archive_limits import archive_limits
from sless.roots.connect import connect_temporal, make_runs, open_objects
from sless.roots.process import run_role
from sless.roots.serving import serve_until_told
from sless.settings import Settings

_SPOOL = Path(tempfile.gettempdir(), "sless-uploads")
"""The same in the next life of a container, which sweeps away what a killed one left."""


async def serve(settings: Settings) -> None:
    """Serves the API until the process is told to end."""
    async with (
        open_server(settings) as server,
        open_verifier(settings.tokens) as verifier,
        open_objects(settings) as objects,
    ):
        ports = Ports(
            functions=KubernetesFunctions(server),
            objects=objects,
            runs=make_runs(settings, await connect_temporal(settings)),
            verifier=verifier,
            warnings=KubernetesWarnings(server, builds=settings.builder.namespace),
        )
        options = api_options(settings, spool=_SPOOL, archive=archive_limits(settings.limits))
        api = settings.api
        await serve_until_told(
            make_server(
                create_app(ports, options),
                host=api.host,
                port=api.port,
                drain_seconds=api.drain_seconds,
            )
        )


if __name__ == "__main__":
    run_role(serve, part="api")
