"""A runner without processes: rows of `instances` that follow a script, for tests of workflows."""

import asyncio
import sqlite3
import time
from dataclasses import dataclass, field

from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.deployments import list_deployments
from sless.adapters.sqlite.instances import find_instance, upsert_instance
from sless.model.deployment import Deployment
from sless.model.instance import Instance, InstanceState

CRASHED = ("FunctionCrashed", "ValueError: broken")


@dataclass(slots=True)
class FakeRunner:
    """Makes each Deployment's present revision ready, or crash, or wait, by its build id."""

    database: Database
    crashing: set[str] = field(default_factory=set)
    """Builds whose revisions crash."""
    waiting: set[str] = field(default_factory=set)
    """Builds whose revisions are never ready."""
    served: list[str] = field(default_factory=list)
    """Images by digest in the order in which they became ready."""

    async def run(self) -> None:
        async for _ in self.database.changes(poll=0.02, resync=0.2):
            await self.database.write(self._reconcile)
            await asyncio.sleep(0)

    def _reconcile(self, connection: sqlite3.Connection) -> None:
        for deployment in list_deployments(connection):
            revision = deployment.revision
            found = find_instance(
                connection, deployment_uid=deployment.uid, instance=revision.instance
            )
            state = self._state(deployment)
            if found is None or found.state is not state:
                upsert_instance(connection, _row(deployment, state))
                if state is InstanceState.READY:
                    self.served.append(revision.image)

    def _state(self, deployment: Deployment) -> InstanceState:
        build = deployment.revision.build
        if build in self.waiting:
            return InstanceState.STARTING
        return InstanceState.CRASHED if build in self.crashing else InstanceState.READY


def _row(deployment: Deployment, state: InstanceState) -> Instance:
    crashed = state is InstanceState.CRASHED
    return Instance(
        namespace=deployment.namespace,
        name=deployment.name,
        deployment_uid=deployment.uid,
        revision=deployment.revision,
        state=state,
        since=time.time(),
        restarts=3 if crashed else 0,
        reason=CRASHED[0] if crashed else "",
        message=CRASHED[1] if crashed else "",
    )
