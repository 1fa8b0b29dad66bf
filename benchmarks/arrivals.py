"""When a namespace's Jobs, pods, Deployments and Functions became what they are.

The API server's own times are whole seconds: what counts is when a watch of ours heard of it.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.pod_reading import is_over
from sless.adapters.kubernetes.resources import DEPLOYMENTS, FUNCTIONS, JOBS, PODS, Resource
from sless.errors import SlessError, VersionConflict

Object = Mapping[str, Any]
RETRY_SECONDS = 1.0
"""Before an API server that went away is asked again."""


@dataclass(slots=True)
class Arrivals:
    """Seconds since the epoch, by function."""

    jobs: dict[str, float] = field(default_factory=dict)
    """The first Job of each."""
    made: Counter[str] = field(default_factory=Counter)
    """Jobs of each."""
    pods_over: dict[str, float] = field(default_factory=dict)
    deployments: dict[str, float] = field(default_factory=dict)
    phases: dict[tuple[str, str], float] = field(default_factory=dict)
    """When the status of a function first told a phase."""

    def note_job(self, kind: str, job: Object) -> None:
        """A Job's creation."""
        if kind == "ADDED":
            name = job["metadata"]["labels"]["sless.io/name"]
            self.made[name] += 1
            self.jobs.setdefault(name, time.time())

    def note_pod(self, _kind: str, pod: Object) -> None:
        """A pod's end."""
        if is_over(pod):
            self.pods_over.setdefault(pod["metadata"]["labels"]["sless.io/name"], time.time())

    def note_deployment(self, _kind: str, deployment: Object) -> None:
        """A Deployment's creation."""
        name = deployment["metadata"]["name"].removeprefix("fn-")
        self.deployments.setdefault(name, time.time())

    def note_function(self, _kind: str, function: Object) -> None:
        """A phase in a status."""
        phase = (function.get("status") or {}).get("phase")
        if phase:
            self.phases.setdefault((function["metadata"]["name"], phase), time.time())


@asynccontextmanager
async def noting(server: ApiServer, namespace: str, builds: str) -> AsyncIterator[Arrivals]:
    """Notes them meanwhile; `builds` is the namespace of the Jobs."""
    noted = Arrivals()
    of_space = f"sless.io/namespace={namespace}"
    watches = [
        asyncio.create_task(_follow(server, JOBS, builds, of_space, noted.note_job)),
        asyncio.create_task(_follow(server, PODS, builds, of_space, noted.note_pod)),
        asyncio.create_task(_follow(server, DEPLOYMENTS, namespace, "", noted.note_deployment)),
        asyncio.create_task(_follow(server, FUNCTIONS, namespace, "", noted.note_function)),
    ]
    try:
        yield noted
    finally:
        for watch in watches:
            watch.cancel()
        await asyncio.gather(*watches, return_exceptions=True)


async def _follow(
    server: ApiServer,
    resource: Resource,
    namespace: str,
    labels: str,
    note: Callable[[str, Object], None],
) -> None:
    since = ""
    while True:
        try:
            if not since:
                page = await server.list(resource, namespace, labels=labels)
                since = page.resource_version
            async for change in server.watch(resource, namespace, since=since, labels=labels):
                since = change.object["metadata"]["resourceVersion"]
                if change.kind != "BOOKMARK":
                    note(change.kind, change.object)
        except SlessError as error:
            print(f"The watch of {resource} broke off, times may be late: {error.reason}")
            since = "" if isinstance(error, VersionConflict) else since
            await asyncio.sleep(RETRY_SECONDS)
