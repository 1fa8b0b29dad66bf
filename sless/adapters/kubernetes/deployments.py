"""Functions' Deployments and Services as objects of an API server.

A write is a merge patch under `resourceVersion`, which never makes what is not there. Not a
server-side apply: after a POST it neither removes what was posted nor what a hand added to a list,
even where both writes carry one manager's name (seen on Kubernetes 1.36).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from sless.adapters.kubernetes.admitted_note import keep_admitted, render_admitted
from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.connection import Object
from sless.adapters.kubernetes.deployment_options import DeploymentOptions
from sless.adapters.kubernetes.read_deployment import read_deployment
from sless.adapters.kubernetes.render_deployment import (
    FUNCTION_LABEL,
    render_change,
    render_deployment,
)
from sless.adapters.kubernetes.resources import (
    DEPLOYMENTS,
    FUNCTIONS,
    PODS,
    REPLICA_SETS,
)
from sless.adapters.kubernetes.rollout_state import judge
from sless.adapters.kubernetes.service_state import is_found, is_marked
from sless.adapters.kubernetes.services import FunctionServices
from sless.errors import (
    AlreadyExists,
    FunctionNotStarted,
    InternalError,
    ManagedElsewhere,
    OwnerGone,
    VersionConflict,
)
from sless.model.deployment import Availability, Deployment
from sless.naming import resource_name

_MANAGER = "sless-worker"


class KubernetesDeployments:
    """The port `Deployments`; each Deployment goes with a Service of the same name."""

    def __init__(self, server: ApiServer, options: DeploymentOptions) -> None:
        self._server = server
        self._options = options
        self._services = FunctionServices(server, manager=_MANAGER)

    async def find(self, namespace: str, name: str) -> Deployment | None:
        """A function's Deployment with its present availability, or none; never somebody else's."""
        live, service = await asyncio.gather(
            self._server.find(DEPLOYMENTS, namespace, resource_name(name)),
            self._services.find(namespace, name),
        )
        deployment = None if live is None else _find_own(live)
        if live is None or deployment is None:
            return None
        return replace(
            deployment,
            availability=await self._judge(live, name),
            exposed=is_found(deployment, live=live, service=service),
        )

    async def create(self, deployment: Deployment) -> Deployment:
        """Creates it, and its Service, for the Function of `deployment.ask.uid`.

        Raises `AlreadyExists`; `ManagedElsewhere` when it is none of ours; `OwnerGone` when that
        Function is not there. One that is deleted meanwhile takes the Deployment along.
        """
        await self._check_owner(deployment)
        await self._check_free(deployment)
        # First, so that where there may be none, by a quota say, nothing runs that no call finds.
        await self._services.ensure(deployment)
        body = render_deployment(deployment, self._options)
        try:
            live = await self._server.create(
                DEPLOYMENTS, deployment.namespace, body, manager=_MANAGER
            )
        except AlreadyExists as error:
            raise AlreadyExists(f"{_subject(deployment)} exists already.") from error
        return await self._note_admitted(read_deployment(live), wanted=deployment)

    async def swap(self, deployment: Deployment) -> Deployment:
        """Writes ask, revision, good and failed over exactly the uid and version that were read.

        The Service too, where that was found amiss. Raises `VersionConflict` when either differs,
        the Deployment is gone, or the ask would go backwards; `FunctionNotStarted` when the cluster
        has no Service, or no Deployment, be as we need it.
        """
        namespace, name = deployment.namespace, resource_name(deployment.name)
        live = await self._server.find(DEPLOYMENTS, namespace, name)
        present = None if live is None else read_deployment(live)
        _check_swap(present, deployment)
        written = deployment
        if live is not None and not (
            present == _unjudged(deployment) and is_marked(deployment, live)
        ):
            written = await self._write(deployment, live=live)
        if not deployment.exposed:
            await self._services.ensure(deployment)
        return written

    async def delete(self, deployment: Deployment) -> None:
        """Deletes the Deployment of that uid; another or none there is no error.

        The Service stays until its Function goes, or serves the Deployment that comes next.
        """
        await self._server.delete(
            DEPLOYMENTS,
            deployment.namespace,
            resource_name(deployment.name),
            uid=deployment.uid,
        )

    async def _write(self, deployment: Deployment, *, live: Object) -> Deployment:
        """Whoever wants to know how the new revision fares reads it again."""
        metadata = live["metadata"]
        body = render_change(deployment, self._options)
        body["metadata"]["annotations"] |= keep_admitted(
            metadata["annotations"], deployment.revision
        )
        if not is_marked(deployment, live):
            own = render_deployment(deployment, self._options)["metadata"]["ownerReferences"]
            body["metadata"]["ownerReferences"] = _joined(metadata.get("ownerReferences"), own)
        written = await self._patch(deployment, body)
        return await self._note_admitted(written, wanted=deployment)

    async def _note_admitted(self, written: Deployment, *, wanted: Deployment) -> Deployment:
        """Notes what the cluster changed in what was written, so that it is not taken for drift.

        Under no version, as controllers write at the same time: what it says is about one content.
        """
        if written.revision == wanted.revision:
            return written
        notes = render_admitted(wanted.revision, became=written.revision)
        return await self._patch(wanted, {"metadata": {"annotations": notes}})

    async def _patch(self, deployment: Deployment, body: Object) -> Deployment:
        namespace, name = deployment.namespace, resource_name(deployment.name)
        written = await self._server.patch(DEPLOYMENTS, namespace, name, body, manager=_MANAGER)
        if written is None:
            raise _gone(deployment)
        if not is_marked(deployment, written):
            raise FunctionNotStarted(
                f"The cluster changes Deployment {namespace}/{name} as it is written, so that "
                "nobody knows it as the function's: exempt Deployments of sless from that policy."
            )
        return read_deployment(written)

    async def _judge(self, live: Object, name: str) -> Availability:
        namespace, labels = live["metadata"]["namespace"], f"{FUNCTION_LABEL}={name}"
        sets, pods = await asyncio.gather(
            self._server.list(REPLICA_SETS, namespace, labels=labels),
            self._server.list(PODS, namespace, labels=labels),
        )
        return judge(live, replica_sets=sets.items, pods=pods.items)

    async def _check_owner(self, deployment: Deployment) -> None:
        owner = await self._server.find(FUNCTIONS, deployment.namespace, deployment.name)
        if owner is None or owner["metadata"]["uid"] != deployment.ask.uid:
            raise OwnerGone(
                f"Function {deployment.namespace}/{deployment.name} of uid {deployment.ask.uid} "
                "was deleted."
            )

    async def _check_free(self, deployment: Deployment) -> None:
        namespace, name = deployment.namespace, resource_name(deployment.name)
        live = await self._server.find(DEPLOYMENTS, namespace, name)
        if live is not None and _find_own(live) is None:
            raise ManagedElsewhere(
                f"Deployment {namespace}/{name} is not as sless writes them: delete it, or call "
                "the function another name if it is yours."
            )


def _joined(owners: Sequence[Object] | None, own: Sequence[Object]) -> list[Object]:
    """Owners that somebody else added stay."""
    named = {each["uid"] for each in own}
    return [*(each for each in owners or () if each["uid"] not in named), *own]


def _find_own(live: Object) -> Deployment | None:
    """The Deployment; none when somebody else made the object, or made something else of it."""
    try:
        return read_deployment(live)
    except InternalError:
        return None


def _unjudged(deployment: Deployment) -> Deployment:
    return replace(deployment, availability=Availability(), exposed=True)


def _check_swap(present: Deployment | None, wanted: Deployment) -> None:
    where = _subject(wanted)
    if present is None:
        raise _gone(wanted)
    if (present.uid, present.resource_version) != (wanted.uid, wanted.resource_version):
        raise VersionConflict(f"{where} changed since it was read: read it again.")
    if present.ask.uid != wanted.ask.uid:
        raise VersionConflict(f"{where} belongs to another Function of that name.")
    if present.ask.generation > wanted.ask.generation:
        raise VersionConflict(
            f"{where} serves generation {present.ask.generation} already, which is newer than "
            f"{wanted.ask.generation}."
        )


def _gone(deployment: Deployment) -> VersionConflict:
    return VersionConflict(f"{_subject(deployment)} is gone.")


def _subject(deployment: Deployment) -> str:
    return f"The Deployment of {deployment.namespace}/{deployment.name}"
