"""The embedded home's Temporal: a dev server with a SQLite file and its UI."""

import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from sless.attributes import REGISTERED
from sless.errors import WorkflowsUnavailable

if TYPE_CHECKING:
    from temporalio.client import Client

_RPC_SECONDS = timedelta(seconds=10)
"""A server that does not answer within this is away."""
RETENTION = timedelta(days=30)
"""How long a closed run can be looked at in Temporal UI, where the dev server's own day is short.
Outcomes do not depend on it."""


@dataclass(frozen=True, slots=True)
class TemporalServer:
    """Where the dev server listens and keeps its state."""

    database: Path
    port: int
    ui_port: int
    host: str = "127.0.0.1"
    namespace: str = "default"

    @property
    def address(self) -> str:
        """What clients connect to."""
        return f"{self.host}:{self.port}"

    @property
    def ui_url(self) -> str:
        """Temporal UI's root."""
        return f"http://{self.host}:{self.ui_port}"

    def command(self) -> list[str]:
        """Starts it in the foreground."""
        return [
            str(Path(sys.executable).parent / "temporal"),
            "server",
            "start-dev",
            f"--ip={self.host}",
            f"--ui-ip={self.host}",
            f"--port={self.port}",
            f"--ui-port={self.ui_port}",
            f"--db-filename={self.database}",
            "--sqlite-pragma=journal_mode=wal",
            f"--namespace={self.namespace}",
            "--log-format=json",
            "--log-level=warn",
            *(f"--search-attribute={name}={kind}" for name, kind in REGISTERED),
        ]


async def ensure_retention(client: "Client") -> None:
    """Keeps closed runs for `RETENTION`; raises `WorkflowsUnavailable`."""
    # The supervisor imports this module too, and the client takes as long as all else of it.
    from google.protobuf.duration_pb2 import Duration
    from temporalio.api.namespace.v1 import NamespaceConfig
    from temporalio.api.workflowservice.v1 import UpdateNamespaceRequest
    from temporalio.service import RPCError

    retention = Duration()
    retention.FromTimedelta(RETENTION)
    try:
        await client.workflow_service.update_namespace(
            UpdateNamespaceRequest(
                namespace=client.namespace,
                config=NamespaceConfig(workflow_execution_retention_ttl=retention),
            ),
            timeout=_RPC_SECONDS,
        )
    except RPCError as error:
        raise WorkflowsUnavailable(f"Temporal does not answer: {error}.") from error
