"""Looks at everything that decides what a function needs next."""

import asyncio
from dataclasses import dataclass

from temporalio import activity

from activities.messages import LookAround
from sless.decide.next_step import Seen, Unknown
from sless.errors import RegistryDenied, RegistryUnavailable
from sless.model.deployment import Deployment
from sless.model.function import Function, FunctionRef
from sless.model.outcome import Outcome, parse_outcome
from sless.model.veil import veiled_deployment, veiled_function
from sless.naming import build_id, outcome_key, repair_key
from sless.ports import Deployments, Functions, Images, Objects


@dataclass(frozen=True, slots=True)
class Looking:
    """Reads, never writes."""

    functions: Functions
    deployments: Deployments
    images: Images
    objects: Objects

    @activity.defn
    async def look_around(self, order: LookAround) -> Seen:
        """What is there now, veiled; the Function is read before all that is judged by it."""
        function = order.pinned or await self._newest(order.function)
        if function is None:
            return Seen(None, deployment=_veiled(await self._deployment(order.function)))
        outcome, repair_failed, uploaded, (image, unknown), deployment = await asyncio.gather(
            self._outcome(function),
            self._repair_failed(function),
            self.objects.exists(function.spec.s3_key),
            self._image(function),
            self._deployment(order.function),
        )
        return Seen(
            function=function,
            outcome=outcome,
            uploaded=uploaded,
            image=image,
            unknown=unknown,
            deployment=_veiled(deployment),
            revision=deployment.revision.hash if deployment is not None else "",
            repair_failed=repair_failed,
        )

    async def _newest(self, ref: FunctionRef) -> Function | None:
        stored = await self.functions.find(ref.namespace, ref.name)
        return veiled_function(stored.function) if stored is not None else None

    async def _deployment(self, ref: FunctionRef) -> Deployment | None:
        return await self.deployments.find(ref.namespace, ref.name)

    async def _outcome(self, function: Function) -> Outcome | None:
        key = outcome_key(function.namespace, function.name, function.uid, function.generation)
        text = await self.objects.find(key)
        return parse_outcome(text) if text is not None else None

    async def _repair_failed(self, function: Function) -> bool:
        return await self.objects.exists(
            repair_key(function.namespace, function.name, function.uid, function.generation)
        )

    async def _image(self, function: Function) -> tuple[str | None, Unknown | None]:
        """A registry that is away hides neither a cancel nor a deletion."""
        build = build_id(function.spec.s3_key)
        try:
            digest = await self.images.find(function.ref, build)
        except (RegistryUnavailable, RegistryDenied) as error:
            return None, Unknown(error.reason, error.message)
        return (None if digest is None else self.images.reference(function.ref, digest)), None


def _veiled(deployment: Deployment | None) -> Deployment | None:
    return veiled_deployment(deployment) if deployment is not None else None
