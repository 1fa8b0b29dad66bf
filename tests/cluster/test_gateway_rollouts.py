"""Calls of a function through the gateway while its real pods come and go."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.deployment_options import DeploymentOptions
from sless.adapters.kubernetes.deployments import KubernetesDeployments
from sless.adapters.kubernetes.functions import KubernetesFunctions
from sless.adapters.kubernetes.resources import DEPLOYMENTS, PODS
from sless.model.deployment import Deployment
from tests.cluster.cluster_gateway import ClusterGateway, cluster_gateway
from tests.cluster.node.images import PYTHON_BASE
from tests.cluster.spaces import MANAGER, ensure_spaces
from tests.cluster.test_rollouts import bases, image, revision
from tests.component.gateway_rig import Answer, call, request
from tests.fixtures.waiting import until

__all__ = ["bases"]

SPACE = "gateway-rollouts"
HELLO = f"{SPACE}/hello"
SPEC = {"s3Key": f"functions/{SPACE}/hello/{'a' * 64}-python3.11.zip", "runtime": "python3.11"}
RATE = 200
"""Calls a second."""
PATIENCE = 120.0
"""Seconds for pods to come or go on a busy machine."""
PROGRAM = """
import http.server, os, signal, sys

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536  # an answer is one packet

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/crash":
            os._exit(1)
        body = sys.argv[1].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024

# Whoever still calls at the end is cut.
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
Server(("0.0.0.0", 8080), Handler).serve_forever()
"""


@dataclass(slots=True)
class Load:
    """Calls at a steady rate, each on a connection of its own, whether or not others answer."""

    port: int
    answers: list[Answer] = field(default_factory=list)

    async def run(self) -> None:
        raw = request(f"/fn/{HELLO}/", method="POST", body=b"x")
        loop = asyncio.get_running_loop()
        due = loop.time()
        async with asyncio.TaskGroup() as calls:
            while True:
                calls.create_task(self._call(raw))
                due += 1 / RATE
                await asyncio.sleep(max(0.0, due - loop.time()))

    async def _call(self, raw: bytes) -> None:
        self.answers.append(await call(self.port, raw))

    @property
    def bodies(self) -> Counter[bytes]:
        return Counter(answer.body for answer in self.answers if answer.status == 200)

    @property
    def failed(self) -> list[Answer]:
        return [answer for answer in self.answers if answer.status != 200]


@contextlib.asynccontextmanager
async def load(gateway: ClusterGateway) -> AsyncIterator[Load]:
    """Goes on for as long as the block, and a whole second before and after."""
    calls = Load(gateway.port)
    running = asyncio.create_task(calls.run())
    await until(lambda: len(calls.answers) > RATE)
    yield calls
    so_far = len(calls.answers)
    await until(lambda: len(calls.answers) > so_far + RATE)
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running


class Hello:
    """The function's Deployment and its pods."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server

    async def run(self, version: str, *, pods: int) -> None:
        """As a rollout does it; the program answers its version."""
        container = {"name": "function", "command": ["python3", "-c", PROGRAM, version]}
        spec = {"replicas": pods, "template": {"spec": {"containers": [container]}}}
        body = {"metadata": {"name": "fn-hello"}, "spec": spec}
        await self._server.apply(DEPLOYMENTS, SPACE, body, manager="hand", force=True)

    async def until_only(self, version: str, *, pods: int) -> list[str]:
        """The addresses of so many pods, all ready, once no other is left."""

        async def find() -> list[str] | None:
            live = await self.pods()
            same = all(_version(pod) == version and _is_ready(pod) for pod in live)
            hosts = [pod["status"]["podIP"] for pod in live] if same else []
            return sorted(f"{host}:8080" for host in hosts) if len(hosts) == pods else None

        return await until(find, seconds=PATIENCE, pause=0.2)  # type: ignore[no-any-return]

    async def pods(self) -> list[dict[str, Any]]:
        return list((await self._server.list(PODS, SPACE, labels="sless.io/function=hello")).items)


def _version(pod: dict[str, Any]) -> str:
    """Empty for a pod of the image as it is, which has no program."""
    return str(pod["spec"]["containers"][0].get("command", [""])[-1])


def _is_ready(pod: dict[str, Any]) -> bool:
    conditions = pod["status"].get("conditions") or ()
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


def restarts(pods: list[dict[str, Any]]) -> int:
    return sum(each["restartCount"] for pod in pods for each in pod["status"]["containerStatuses"])


@pytest.fixture
async def hello(server: ApiServer, bases: str) -> AsyncIterator[Hello]:
    await ensure_spaces(server, (SPACE,))
    functions = KubernetesFunctions(server)
    function = (await functions.create(SPACE, "hello", spec=SPEC, manager=MANAGER)).function
    made, deployments = Hello(server), KubernetesDeployments(server, DeploymentOptions())

    async def is_free() -> bool:
        # What belonged to an earlier Function goes a moment after it.
        return not await made.pods() and await deployments.find(SPACE, "hello") is None

    await until(is_free, seconds=PATIENCE)
    present = revision(image(bases, PYTHON_BASE))
    await deployments.create(
        Deployment(namespace=SPACE, name="hello", ask=function.ask, revision=present)
    )
    yield made
    await ensure_spaces(server, (SPACE,))


@pytest.fixture
async def gateway(tmp_path: Path, kubeconfig: str) -> AsyncIterator[ClusterGateway]:
    async with cluster_gateway(tmp_path, Path(kubeconfig)) as running:
        yield running


@pytest.mark.parametrize("pods", [1, 3])
async def test_a_rollout_loses_no_call(gateway: ClusterGateway, hello: Hello, pods: int) -> None:
    await hello.run("old", pods=pods)
    await gateway.until_routed(HELLO, await hello.until_only("old", pods=pods))
    async with load(gateway) as calls:
        await hello.run("new", pods=pods)
        await gateway.until_routed(HELLO, await hello.until_only("new", pods=pods))
    assert calls.failed == []
    assert set(calls.bodies) == {b"old", b"new"}
    assert {answer.body for answer in calls.answers[-RATE:]} == {b"new"}


async def test_fewer_pods_lose_no_call(gateway: ClusterGateway, hello: Hello) -> None:
    await hello.run("old", pods=3)
    await gateway.until_routed(HELLO, await hello.until_only("old", pods=3))
    async with load(gateway) as calls:
        await hello.run("old", pods=1)
        await gateway.until_routed(HELLO, await hello.until_only("old", pods=1))
    assert calls.failed == []


async def test_a_pod_that_crashes_takes_its_own_calls_along(
    gateway: ClusterGateway, hello: Hello
) -> None:
    await hello.run("old", pods=3)
    addresses = await hello.until_only("old", pods=3)
    await gateway.until_routed(HELLO, addresses)
    async with load(gateway) as calls:
        killing = request(f"/fn/{HELLO}/crash", method="POST", body=b"x")
        assert (await call(gateway.port, killing)).problem()["reason"] == "FunctionBroke"
        await until(lambda: _has_restarted(hello), seconds=PATIENCE, pause=0.2)
        await hello.until_only("old", pods=3)
        await gateway.until_routed(HELLO, addresses)
    # What was under way at that pod; of all later ones, a third would have met it.
    assert {answer.problem()["reason"] for answer in calls.failed} <= {"FunctionBroke"}
    assert len(calls.failed) < len(calls.answers) / 10


async def _has_restarted(hello: Hello) -> bool:
    return restarts(await hello.pods()) == 1
