"""Jobs whose Function is gone are ended, and no others."""

from typing import Any

import pytest

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.functions import KubernetesFunctions
from sless.adapters.kubernetes.render_job import PREFIX
from sless.adapters.kubernetes.resources import JOBS
from sless.adapters.kubernetes.sweeping import sweep_jobs
from tests.cluster.spaces import MANAGER, ensure_spaces

pytestmark = pytest.mark.cluster

TEAM, BUILDS = "swept-team", "swept-builds"


def job(name: str, uid: str | None) -> dict[str, Any]:
    """One that never starts anything."""
    container = {"name": "build", "image": "none"}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    labels = {} if uid is None else {f"{PREFIX}/uid": uid}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"suspend": True, "template": template},
    }


async def left(server: ApiServer) -> list[str]:
    return sorted(each["metadata"]["name"] for each in (await server.list(JOBS, BUILDS)).items)


async def test_only_jobs_of_functions_that_are_gone_are_swept(server: ApiServer) -> None:
    await ensure_spaces(server, (TEAM, BUILDS))
    for name in await left(server):
        await server.delete(JOBS, BUILDS, name)
    spec = {"s3Key": f"functions/{TEAM}/hello/{'a' * 64}-python3.11.zip", "runtime": "python3.11"}
    functions = KubernetesFunctions(server)
    made = await functions.create(TEAM, "hello", spec=spec, manager=MANAGER)
    uids = {"present": made.function.uid, "before": "of-one-before", "foreign": None}
    for name, uid in uids.items():
        await server.create(JOBS, BUILDS, job(name, uid), manager=MANAGER)

    assert await sweep_jobs(server, BUILDS) == 1
    assert await left(server) == ["foreign", "present"]

    await functions.delete(TEAM, "hello")
    assert await sweep_jobs(server, BUILDS) == 1
    assert await left(server) == ["foreign"]
    await ensure_spaces(server, (TEAM, BUILDS))
