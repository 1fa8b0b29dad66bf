"""What a build can reach: the world and what the chart names, nothing else inside."""

import asyncio
import os

import pytest

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.connection import Object
from sless.adapters.kubernetes.resources import PODS
from tests.cluster.chart import BUILDS
from tests.cluster.spaces import MANAGER

NAME = "probe"
WAIT = 90.0
"""Seconds for a pod, its image included, and for a policy to be enforced on a busy machine."""

_PROBE = """
import socket, sys
for target in sys.argv[1:]:
    host, port = target.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), 2).close()
        print(target, "open")
    except OSError as error:
        print(target, "shut")
"""


@pytest.fixture
def bases() -> str:
    address = os.environ.get("BASES")
    if not address:
        pytest.skip("BASES names no registry of base images: only our own cluster has one.")
    return address


@pytest.fixture
def node_ip(bases: str) -> str:
    return bases.partition(":")[0]


async def test_a_build_reaches_the_registry_but_not_the_cluster(
    server: ApiServer, bases: str, node_ip: str
) -> None:
    registry, api, kubelet = f"{node_ip}:5000", f"{node_ip}:6443", f"{node_ip}:10250"
    free = await probe(server, "default", bases, registry, api, kubelet)
    assert set(free.values()) == {"open"}, (
        "without a policy all is open, or the test proves nothing"
    )
    seen = await probe(server, BUILDS, bases, registry, api, kubelet)
    assert seen == {registry: "open", api: "shut", kubelet: "shut"}


async def probe(server: ApiServer, namespace: str, bases: str, *targets: str) -> dict[str, str]:
    """What a pod in that namespace can connect to."""
    await remove(server, namespace)
    # A policy holds some time after its pod started.
    command = ["sh", "-c", 'sleep 5; exec python -c "$0" "$@"', _PROBE, *targets]
    await server.create(PODS, namespace, pod(f"{bases}/python:3.11", command), manager=MANAGER)
    await ended(server, namespace)
    log = await server.read_log(namespace, NAME, container=NAME)
    await remove(server, namespace)
    assert log is not None
    return dict(line.split(" ") for line in log.decode().splitlines())


def pod(image: str, command: list[str]) -> Object:
    rights = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    container = {"name": NAME, "image": image, "command": command, "securityContext": rights}
    return {
        "metadata": {"name": NAME},
        "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "containers": [container],
        },
    }


async def ended(server: ApiServer, namespace: str) -> None:
    async with asyncio.timeout(WAIT):
        while True:
            found = await server.find(PODS, namespace, NAME)
            if found and found["status"]["phase"] in {"Succeeded", "Failed"}:
                return
            await asyncio.sleep(0.5)


async def remove(server: ApiServer, namespace: str) -> None:
    async with asyncio.timeout(WAIT):
        while True:
            if not await server.delete(PODS, namespace, NAME):
                return
            await asyncio.sleep(0.5)
