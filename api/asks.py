"""Writes asks: one merge patch each under the version that was read, then a look."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog

from api.conditions import check_match
from api.models import AskAccepted
from api.services import Services
from api.wanted import SpecChange, check_merged
from sless.errors import (
    AlreadyExists,
    FunctionNotFound,
    VersionConflict,
    WorkflowsUnavailable,
)
from sless.model.function import Ask, Function, FunctionRef
from sless.naming import build_id, build_workflow_id, function_workflow_id
from sless.ports.functions import StoredFunction

MANAGER = "sless-api"
TRIES = 40
"""Twenty writers at once need twenty rounds at the worst; status is written in between."""
_PAUSE_SECONDS = 0.02
"""The longest pause after the first lost race; it grows with each."""


@dataclass(frozen=True, slots=True)
class Change:
    """What one act writes; annotations alone make no new ask."""

    spec: SpecChange = field(default_factory=dict)
    annotations: dict[str, str | None] = field(default_factory=dict)


Decide = Callable[[Function | None], Awaitable[Change]]
"""The change for the Function as it was read, or a refusal raised."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Write:
    """One act upon a Function."""

    ref: FunctionRef
    kind: str
    """For the metrics: upload, retry, rebuild, rollback, settings or cancel."""
    decide: Decide
    if_match: str = ""
    """The resourceVersion that the client read; `*` for any that is there; empty for no matter."""


async def write(services: Services, act: Write) -> tuple[StoredFunction, bool]:
    """The Function as written, and whether that made a new ask.

    Raises what `act.decide` raises; `VersionConflict` when the race was lost too often, or once
    where the client named a version; `ManagedElsewhere`, `InvalidSetting`, `InvalidKey`.
    """
    for lost in range(TRIES):
        stored = await services.ports.functions.find(act.ref.namespace, act.ref.name)
        check_match(act.if_match, stored, act.ref)
        change = await act.decide(stored.function if stored is not None else None)
        try:
            written = await _write_once(services, act.ref, stored=stored, change=change)
        except (VersionConflict, AlreadyExists, FunctionNotFound):
            if act.if_match:
                raise
            await asyncio.sleep(random.uniform(0, _PAUSE_SECONDS * (lost + 1)))  # noqa: S311 - no secret
            continue
        asked = stored is None or written.function.ask != stored.function.ask
        if asked or change.annotations:
            services.metrics.asks.labels(act.kind).inc()
        return written, asked
    raise VersionConflict(f"Function {act.ref} is being changed by many at once; try again.")


async def look(services: Services, ref: FunctionRef, ask: Ask | None) -> list[str]:
    """Wakes the function workflow; warnings when that has to wait for the watcher."""
    try:
        await services.ports.runs.look(ref, ask=ask)
    except WorkflowsUnavailable as error:
        log.warning("look is left to the watcher", function=str(ref), detail=error.message)
        return ["Temporal does not answer just now: the ask is stored and starts once it does."]
    return []


def accepted(services: Services, function: Function, warnings: list[str]) -> AskAccepted:
    """What an act answers."""
    namespace, name, key = function.namespace, function.name, function.spec.s3_key
    build = build_id(key)
    own = function_workflow_id(namespace, name)
    return AskAccepted(
        namespace=namespace,
        name=name,
        uid=function.uid,
        generation=function.generation,
        s3_key=key,
        build=build,
        workflow_id=build_workflow_id(namespace, name, build),
        function_workflow_id=own,
        log_url=f"{function_url(services, function.ref)}/builds/{build}/log",
        temporal_url=services.ports.runs.url(own),
        url=f"{services.options.gateway_url}/fn/{namespace}/{name}/",
        warnings=warnings,
    )


async def perform(
    services: Services, act: Write, *, warnings: list[str] | None = None
) -> AskAccepted:
    """Writes, looks and answers: all that most acts are."""
    written, _ = await write(services, act)
    function = written.function
    unsent = await look(services, function.ref, function.ask)
    return accepted(services, function, [*(warnings or []), *unsent])


def function_url(services: Services, ref: FunctionRef) -> str:
    """A Function's own address in this API."""
    return f"{services.options.api_url}/v1/namespaces/{ref.namespace}/functions/{ref.name}"


async def _write_once(
    services: Services, ref: FunctionRef, *, stored: StoredFunction | None, change: Change
) -> StoredFunction:
    functions = services.ports.functions
    if stored is None:
        spec = {key: value for key, value in change.spec.items() if value is not None}
        return await functions.create(ref.namespace, ref.name, spec=spec, manager=MANAGER)
    check_merged(stored.manifest["spec"], change.spec, ref)
    return await functions.patch(
        ref.namespace,
        ref.name,
        spec=change.spec,
        annotations=change.annotations or None,
        manager=MANAGER,
        resource_version=stored.function.resource_version,
    )
