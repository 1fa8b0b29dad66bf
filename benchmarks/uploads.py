"""Functions uploaded to a platform on a cluster, in a namespace of their own."""

import io
import os
import time
import uuid
import zipfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import httpx
from temporalio.client import Client

from benchmarks.arrivals import Arrivals, noting
from benchmarks.run_steps import RunSteps, read_steps
from sless.adapters.kubernetes.client import ApiServer, connect
from sless.adapters.kubernetes.resources import CONFIG_MAPS, NAMESPACES
from sless.naming import build_workflow_id, function_workflow_id
from tests.cluster.chart import SYSTEM
from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.objects import ensure_namespace, ensure_registry_secret
from tests.fixtures.waiting import until

SECONDS = 900.0
"""For all that is under way to end."""
ENDS = ("Ready", "Failed")


@dataclass(frozen=True, slots=True)
class Upload:
    """One function on its way."""

    name: str
    build: str
    sent: float
    accepted: float


@dataclass(frozen=True, slots=True)
class Bench:
    """A namespace of its own."""

    home: ClusterHome
    api: httpx.AsyncClient
    server: ApiServer
    temporal: Client
    noted: Arrivals

    async def upload(self, name: str) -> Upload:
        """A function of one file, in a zip that nobody has built."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("handler.py", f"def handler(request):\n    return {name!r}\n")
        sent = time.time()
        path = f"/v1/namespaces/{self.home.namespace}/functions/{name}/code"
        answer = await self.api.put(
            path, content=packed.getvalue(), headers={"Content-Type": "application/zip"}
        )
        accepted = time.time()
        return Upload(name, answer.raise_for_status().json()["build"], sent, accepted)

    async def ended(self, *names: str) -> None:
        """Once the status of each tells an end."""
        await until(lambda: all(self.end_of(name) for name in names), seconds=SECONDS, pause=0.1)

    def end_of(self, name: str) -> str:
        """The phase in which it ended; empty before."""
        return next((p for p in ENDS if (name, p) in self.noted.phases), "")

    async def steps(self, upload: Upload) -> tuple[RunSteps, RunSteps]:
        """Of its function's run and of its build's."""
        space = self.home.namespace
        return (
            await read_steps(self.temporal, function_workflow_id(space, upload.name)),
            await read_steps(self.temporal, build_workflow_id(space, upload.name, upload.build)),
        )


@asynccontextmanager
async def open_bench() -> AsyncIterator[Bench]:
    """Makes a namespace, and deletes it afterwards."""
    async with AsyncExitStack() as stack:
        server = await connect(os.environ["KUBECONFIG"])
        stack.push_async_callback(server.close)
        found = await server.find(CONFIG_MAPS, SYSTEM, "sless-settings")
        assert found is not None, "the platform is not installed: run tests/cluster/e2e once"
        told = found["data"]
        space = f"benchmark-{uuid.uuid4().hex[:6]}"
        ensure_namespace(space)
        stack.push_async_callback(server.delete, NAMESPACES, None, space)
        ensure_registry_secret(space)
        home = ClusterHome(space, told["SLESS_API__URL"], told["SLESS_GATEWAY__URL"])
        headers = {"Authorization": f"Bearer {home.environ()['SLESS_TOKEN']}"}
        api = await stack.enter_async_context(
            httpx.AsyncClient(base_url=home.api, headers=headers, timeout=60, trust_env=False)
        )
        temporal = await Client.connect(told["TEMPORAL_ADDRESS"])
        builds = told["SLESS_BUILDER__NAMESPACE"]
        noted = await stack.enter_async_context(noting(server, space, builds))
        yield Bench(home, api, server, temporal, noted)
