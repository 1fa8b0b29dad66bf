"""What the Kubernetes home's watcher costs with 2 000 idle functions, and how late its status is.

`python -m benchmarks.watcher [functions]`, with KUBECONFIG naming an API server with k8s/chart's
custom resource and nobody else's Functions: the watcher judges all of them.

Prints the watcher's memory, processor and requests while nothing happens, then how long after a
run's phase turned the status said so, with 50 under way on a real Temporal server.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker

from benchmarks.counting_proxy import counting_proxy
from benchmarks.gateway import cpu_seconds, memory_mib
from benchmarks.watched_runs import Phases, PhasesBuild
from sless.adapters.kubernetes.client import ApiServer, connect
from sless.adapters.kubernetes.deployment_options import DeploymentOptions
from sless.adapters.kubernetes.functions import KubernetesFunctions
from sless.adapters.kubernetes.render_deployment import render_deployment, render_service
from sless.adapters.kubernetes.resources import DEPLOYMENTS, FUNCTIONS, NAMESPACES, SERVICES
from sless.adapters.s3 import S3Objects
from sless.attributes import TASK_QUEUE
from sless.errors import AlreadyExists
from sless.local.temporal import TemporalServer
from sless.model.deployment import Deployment, Revision
from sless.model.function import Function
from sless.model.outcome import Outcome
from sless.model.phase import Phase
from sless.naming import S3Key, build_id, function_workflow_id, outcome_key
from tests.fixtures.ports import free_port
from tests.fixtures.seaweed import ACCESS_KEY, BUCKET, SECRET_KEY, RunningSeaweed, run_seaweed
from tests.fixtures.waiting import until

SPACE = "benchmark"
MANAGER = "benchmark"
UNDER_WAY = 50
IDLE_SECONDS = 120
TURNS = (Phase.PREPARING, Phase.BUILDING, Phase.DEPLOYING)


class Bench:
    """What the watcher watches."""

    def __init__(self, server: ApiServer, objects: S3Objects) -> None:
        self.server = server
        self.functions = KubernetesFunctions(server)
        self.objects = objects
        self.limit = asyncio.Semaphore(16)

    async def ask(self, name: str) -> Function:
        """A Function whose zip is there."""
        key = str(S3Key(SPACE, name, "0" * 64, "python3.11"))
        spec = {"s3Key": key, "runtime": "python3.11"}
        async with self.limit:
            await self.objects.put_if_absent(key, b"zip")
            return (await self.functions.create(SPACE, name, spec=spec, manager=MANAGER)).function

    async def end(self, function: Function) -> None:
        """Its ask's outcome."""
        outcome = Outcome(
            namespace=SPACE,
            name=function.name,
            ask=function.ask,
            phase=Phase.FAILED,
            reason="BuildFailed",
            message="no such module",
            s3_key=function.spec.s3_key,
            build=build_id(function.spec.s3_key),
            runtime="python3.11",
        )
        key = outcome_key(SPACE, function.name, function.uid, function.generation)
        await self.objects.put_if_absent(key, outcome.to_json())

    async def make_idle(self, name: str) -> None:
        """A function that was answered, with a Deployment that no controller acts on."""
        function = await self.ask(name)
        await self.end(function)
        revision = Revision(
            image=f"registry.test/{name}@sha256:{'1' * 64}", build="0" * 12, runtime="python3.11"
        )
        deployment = Deployment(
            SPACE, name, function.ask, revision, good=revision, good_generation=1
        )
        body = render_deployment(deployment, DeploymentOptions())
        body["spec"] |= {"replicas": 0, "paused": True}
        async with self.limit:
            await self.server.create(SERVICES, SPACE, render_service(deployment), manager=MANAGER)
            await self.server.create(DEPLOYMENTS, SPACE, body, manager=MANAGER)

    async def count(self, phase: Phase) -> int:
        """How many have it in their status."""
        token = ""
        found: int = 0
        while True:
            page = await self.functions.list(SPACE, token=token, limit=500)
            found += sum(item.manifest["status"].get("phase") == phase.value for item in page.items)
            token = page.next
            if not token:
                return found

    async def clear(self) -> None:
        """Deletes what was made; without controllers nobody else does."""
        for resource in (FUNCTIONS, DEPLOYMENTS, SERVICES):
            pages = self.server.pages(resource, SPACE, size=500)
            names = [item["metadata"]["name"] async for page in pages for item in page.items]
            await asyncio.gather(*(self._delete(resource, name) for name in names))

    async def _delete(self, resource: object, name: str) -> None:
        async with self.limit:
            await self.server.delete(resource, SPACE, name)  # type: ignore[arg-type]


async def lags(bench: Bench, client: Client, count: int) -> list[float]:
    """Seconds from a turn of a run to the status that tells it, for each turn of each run."""
    turned: dict[tuple[str, str], float] = {}
    seen: dict[tuple[str, str], float] = {}
    since = (await bench.server.list(FUNCTIONS, SPACE, limit=1)).resource_version
    told = asyncio.create_task(note_phases(bench, seen, since=since))
    made = await asyncio.gather(*(bench.ask(f"busy-{number}") for number in range(count)))
    await until(lambda: sum(phase == Phase.PENDING for _, phase in seen) >= count, seconds=180)
    for phase in TURNS:
        for function in made:
            handle = client.get_workflow_handle(function_workflow_id(SPACE, function.name))
            await handle.signal("turn", phase.value)
            turned[function.name, phase] = time.monotonic()
            await asyncio.sleep(0.2)  # as builds do, not all at once
        await until(lambda: turned.keys() <= seen.keys(), seconds=180)
    for function in made:
        await bench.end(function)
        turned[function.name, Phase.FAILED] = time.monotonic()
        handle = client.get_workflow_handle(function_workflow_id(SPACE, function.name))
        await handle.signal("turn", "")
        await asyncio.sleep(0.2)
    await until(lambda: turned.keys() <= seen.keys(), seconds=180)
    told.cancel()
    return [seen[turn] - at for turn, at in turned.items()]


async def note_phases(bench: Bench, seen: dict[tuple[str, str], float], *, since: str) -> None:
    """When each status first told each phase."""
    while True:
        async for change in bench.server.watch(FUNCTIONS, SPACE, since=since):
            since = change.object["metadata"]["resourceVersion"]
            phase = (change.object.get("status") or {}).get("phase")
            if phase:
                name = change.object["metadata"]["name"]
                seen.setdefault((name, Phase(phase)), time.monotonic())


def environ(kubeconfig: Path, temporal: TemporalServer, s3: RunningSeaweed) -> dict[str, str]:
    """What the watcher is told."""
    return {
        **os.environ,
        "KUBECONFIG": str(kubeconfig),
        "SLESS_HOME": "kubernetes",
        "SLESS_STORAGE__ENDPOINT": s3.server.url,
        "SLESS_STORAGE__BUCKET": BUCKET,
        "SLESS_LOG_LEVEL": "warning",
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "TEMPORAL_ADDRESS": temporal.address,
    }


async def measure(folder: Path, temporal: TemporalServer, s3: RunningSeaweed, count: int) -> None:
    """Prints the figures."""
    async with AsyncExitStack() as stack:
        server = await connect(os.environ["KUBECONFIG"])
        stack.push_async_callback(server.close)
        bench = Bench(server, stack.enter_context(s3.objects()))
        try:
            await server.create(NAMESPACES, None, {"metadata": {"name": SPACE}}, manager=MANAGER)
        except AlreadyExists:
            await bench.clear()
        stack.push_async_callback(bench.clear)
        await asyncio.gather(*(bench.make_idle(f"idle-{number}") for number in range(count)))
        client = await patient_client(temporal.address)
        worker = Worker(client, task_queue=TASK_QUEUE, workflows=[Phases, PhasesBuild])
        await stack.enter_async_context(worker)
        counts: Counter[str] = Counter()
        kubeconfig = await stack.enter_async_context(counting_proxy(folder, counts))
        watcher = start_watcher(environ(kubeconfig, temporal, s3))
        stack.push_async_callback(asyncio.to_thread, watcher.wait)
        stack.callback(watcher.terminate)
        await report(bench, client, watcher.pid, counts=counts, count=count)


def start_watcher(told: dict[str, str]) -> "subprocess.Popen[bytes]":
    """As in its pod."""
    return subprocess.Popen([sys.executable, "-m", "sless.cluster.watcher"], env=told)


async def report(
    bench: Bench, client: Client, pid: int, *, counts: Counter[str], count: int
) -> None:
    """From the watcher's start on."""
    start = time.monotonic()

    async def all_told() -> bool:
        return await bench.count(Phase.FAILED) >= count

    await until(all_told, seconds=600, pause=1)
    print(f"all {count} told      {time.monotonic() - start:6.1f} s after its start")
    print(f"processor so far    {cpu_seconds(pid):6.1f} s")
    await asyncio.sleep(10)
    before, counted = cpu_seconds(pid), counts.copy()
    await asyncio.sleep(IDLE_SECONDS)
    print(f"idle: memory        {memory_mib(pid):6} MiB, at most {peak_mib(pid)} so far")
    print(f"idle: processor     {(cpu_seconds(pid) - before) / IDLE_SECONDS:6.1%}")
    for request, number in sorted((counts - counted).items()):
        print(f"idle: requests      {number * 60 / IDLE_SECONDS:6.1f} a minute  {request}")
    before, start = cpu_seconds(pid), time.monotonic()
    found = sorted(await lags(bench, client, UNDER_WAY))
    spent = (cpu_seconds(pid) - before) / (time.monotonic() - start)
    late = found[int(len(found) * 0.95)]
    print(
        f"{UNDER_WAY} under way: lag    {statistics.median(found):6.2f} s, 95 %: {late:.2f} s, ",
        end="",
    )
    print(f"most: {found[-1]:.2f} s, of {len(found)}; processor {spent:.1%}")
    print(f"at the end: memory  {memory_mib(pid):6} MiB, at most {peak_mib(pid)}")


def peak_mib(pid: int) -> int:
    """The most that was resident."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


async def patient_client(address: str) -> Client:
    """Once the server answers."""
    async with asyncio.timeout(60):
        while True:
            try:
                return await Client.connect(address)
            except RuntimeError:
                await asyncio.sleep(0.1)


def main() -> None:
    """Starts what the watcher needs."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    with tempfile.TemporaryDirectory() as name, run_seaweed(Path(name)) as s3:
        folder = Path(name)
        temporal = TemporalServer(folder / "temporal.db", port=free_port(), ui_port=free_port())
        with (folder / "temporal.log").open("wb") as log:
            process = subprocess.Popen(temporal.command(), stdout=log, stderr=subprocess.STDOUT)
        try:
            asyncio.run(measure(folder, temporal, s3, count))
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
