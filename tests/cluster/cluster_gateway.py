"""A gateway of the Kubernetes home as its pod runs it: an Envoy and its writer, two processes."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.component.gateway_rig import DEADLINE, Answer, call, request
from tests.fixtures.ports import free_port
from tests.fixtures.waiting import until


@dataclass(slots=True)
class ClusterGateway:
    folder: Path
    kubeconfig: Path
    port: int = field(default_factory=free_port)
    tell_port: int = field(default_factory=free_port)
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, part: str) -> None:
        """`gateway` is the writer, as its module is called; or `envoy`."""
        environment = {
            "PATH": os.environ["PATH"],
            "KUBECONFIG": str(self.kubeconfig),
            "SLESS_HOME": "kubernetes",
            "SLESS_GATEWAY__FOLDER": str(self.folder / "shared"),
            "SLESS_GATEWAY__PORT": str(self.port),
            "SLESS_GATEWAY__TELL_PORT": str(self.tell_port),
        }
        command = [sys.executable, "-P", "-m", f"sless.cluster.{part}"]
        with self.log(part).open("ab") as log:
            self.running[part] = subprocess.Popen(
                command, env=environment, stdout=log, stderr=subprocess.STDOUT
            )

    async def end(self, part: str, number: int = signal.SIGTERM) -> int:
        """Its exit code."""
        process = self.running.pop(part)
        process.send_signal(number)
        return await asyncio.to_thread(process.wait, DEADLINE)

    def log(self, part: str) -> Path:
        return self.folder / f"{part}.log"

    def envoy_pid(self) -> int:
        """Of Envoy itself, below the process that drains it."""
        pid = self.running["envoy"].pid
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    async def tell(self, question: str, **query: Any) -> httpx.Response:
        """What the writer answers; 503 while it is not there."""
        url = f"http://127.0.0.1:{self.tell_port}/{question}"
        async with httpx.AsyncClient(trust_env=False, timeout=DEADLINE) as client:
            try:
                return await client.get(url, params=query)
            except httpx.TransportError:
                return httpx.Response(503)

    async def routed(self, function: str) -> list[str] | None:
        """Where Envoy sends its calls; None for one that it does not know."""
        answer = await self.tell("routed")
        found: list[str] | None = None
        if answer.status_code == 200:
            found = answer.json()["routes"].get(function)
        return found

    async def until_routed(self, function: str, addresses: list[str] | None) -> None:
        async def is_so() -> bool:
            answer = await self.tell("routed")
            return answer.status_code == 200 and (
                answer.json()["routes"].get(function) == addresses
            )

        await until(is_so)

    async def call(self, function: str) -> Answer:
        return await call(self.port, request(f"/fn/{function}/"))


@contextlib.asynccontextmanager
async def cluster_gateway(
    folder: Path, kubeconfig: Path, *, start: bool = True
) -> AsyncIterator[ClusterGateway]:
    gateway = ClusterGateway(folder, kubeconfig)
    try:
        if start:
            for part in ("envoy", "gateway"):
                gateway.start(part)
            await until_ready(gateway)
        yield gateway
    finally:
        for process in gateway.running.values():
            process.kill()  # Envoy dies with it
            process.wait()


async def until_ready(gateway: ClusterGateway) -> None:
    """As a kubelet finds out: the writer answers, and Envoy accepts."""

    async def is_ready() -> bool:
        return (await gateway.tell("readyz")).status_code == 200 and await accepts(gateway.port)

    await until(is_ready)


async def accepts(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionRefusedError:
        return False
    writer.close()
    return True
