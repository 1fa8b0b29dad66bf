"""Functions' Services as objects of an API server: applied, since they carry no revision."""

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.connection import Object
from sless.adapters.kubernetes.render_deployment import render_service
from sless.adapters.kubernetes.resources import SERVICES
from sless.adapters.kubernetes.service_state import is_exposed, is_foreign
from sless.errors import FunctionNotStarted, ManagedElsewhere
from sless.model.deployment import Deployment
from sless.naming import resource_name


class FunctionServices:
    """Each goes with the Deployment of its name."""

    def __init__(self, server: ApiServer, *, manager: str) -> None:
        self._server = server
        self._manager = manager

    async def find(self, namespace: str, name: str) -> Object | None:
        """A function's, by the function's name, or none."""
        return await self._server.find(SERVICES, namespace, resource_name(name))

    async def ensure(self, deployment: Deployment) -> None:
        """Makes it, or puts it right.

        Raises `ManagedElsewhere` when it is somebody else's, `FunctionNotStarted` when the cluster
        has none be as we need it.
        """
        live = await self.find(deployment.namespace, deployment.name)
        where = f"Service {deployment.namespace}/{resource_name(deployment.name)}"
        if live is not None and is_foreign(live):
            raise ManagedElsewhere(
                f"{where} is none of sless: delete it, or call the function another name if it is "
                "yours."
            )
        made = await self._apply(deployment)
        if is_exposed(deployment, made):
            return
        # What a hand added to the selector, or made of the type, outlives an apply.
        metadata = made["metadata"]
        await self._server.delete(
            SERVICES, deployment.namespace, metadata["name"], uid=metadata["uid"]
        )
        if not is_exposed(deployment, await self._apply(deployment)):
            raise FunctionNotStarted(
                f"The cluster changes {where} as it is written, so that no call finds the "
                "function: exempt Services of sless from that policy."
            )

    async def _apply(self, deployment: Deployment) -> Object:
        return await self._server.apply(
            SERVICES,
            deployment.namespace,
            render_service(deployment),
            manager=self._manager,
            force=True,
        )
