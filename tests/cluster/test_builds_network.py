"""What a build can reach: the world and what the chart names, nothing else inside."""

import json
import os

import pytest

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.connection import Object
from sless.adapters.kubernetes.resources import PODS
from sless.errors import InvalidSetting
from tests.cluster.chart import BUILDS
from tests.cluster.spaces import MANAGER
from tests.fixtures.waiting import until

NAME = "probe"
WAIT = 90.0
"""Seconds for a pod, its image included, and for a policy to be enforced on a busy machine."""

_PROBE = """
import json, socket, sys, time

def is_open(target):
    host, port = target.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), 2).close()
    except OSError:
        return False
    return True

while True:
    print(json.dumps({target: is_open(target) for target in sys.argv[1:]}), flush=True)
    time.sleep(1)
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
    # Without a policy all is open, or the test proves nothing.
    everything = dict.fromkeys([registry, api, kubelet], True)
    await until_open(server, "default", bases, everything)
    await until_open(server, BUILDS, bases, {registry: True, api: False, kubelet: False})


async def until_open(
    server: ApiServer, namespace: str, bases: str, wanted: dict[str, bool]
) -> None:
    """Until a pod there can connect to just those: a policy holds some time after its start."""
    await remove(server, namespace)
    command = ["python", "-c", _PROBE, *wanted]
    await server.create(PODS, namespace, pod(f"{bases}/python:3.11", command), manager=MANAGER)

    async def is_so() -> bool:
        return await last_line(server, namespace) == json.dumps(wanted)

    try:
        await until(is_so, seconds=WAIT, pause=0.5)
    except TimeoutError:
        pytest.fail(f"{namespace}: {await last_line(server, namespace)} is not {wanted}")
    finally:
        await remove(server, namespace)


async def last_line(server: ApiServer, namespace: str) -> str:
    """What it found last; empty before it runs."""
    try:
        log = await server.read_log(namespace, NAME, container=NAME)
    except InvalidSetting:
        return ""
    return next(reversed((log or b"").decode().splitlines()), "")


def pod(image: str, command: list[str]) -> Object:
    rights = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    container = {"name": NAME, "image": image, "command": command, "securityContext": rights}
    return {
        "metadata": {"name": NAME},
        "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
        },
    }


async def remove(server: ApiServer, namespace: str) -> None:
    async def is_gone() -> bool:
        return not await server.delete(PODS, namespace, NAME)

    await until(is_gone, seconds=WAIT, pause=0.5)
