"""What Temporal's namespace must have before a workflow starts in it."""

import shlex
from collections.abc import Iterable, Sequence
from datetime import timedelta

import structlog
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
)
from temporalio.api.workflowservice.v1 import UpdateNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from sless.attributes import REGISTERED
from sless.errors import InvalidSetting, WorkflowsUnavailable

RETENTION = timedelta(days=30)
"""How long a closed run can be looked at in Temporal UI, where the dev server's own day is short.
Outcomes do not depend on it."""
_RPC_SECONDS = timedelta(seconds=10)
"""A server that does not answer within this is away."""
Attribute = tuple[str, str]
"""Name and type."""

_REFUSALS = frozenset({RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED})
_TYPES = {
    "Keyword": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    "Int": IndexedValueType.INDEXED_VALUE_TYPE_INT,
}

log = structlog.get_logger()


async def ensure_retention(client: Client) -> None:
    """Keeps closed runs for `RETENTION`; raises `WorkflowsUnavailable`."""
    retention = Duration()
    retention.FromTimedelta(RETENTION)
    try:
        await client.workflow_service.update_namespace(
            UpdateNamespaceRequest(
                namespace=client.namespace,
                config=NamespaceConfig(workflow_execution_retention_ttl=retention),
            ),
            timeout=_RPC_SECONDS,
        )
    except RPCError as error:
        raise WorkflowsUnavailable(f"Temporal does not answer: {error}.") from error


async def ensure_attributes(client: Client) -> None:
    """Registers the search attributes that the namespace lacks: without one, no run would start.

    Where we may not even ask, they are believed to be there. Raises `WorkflowsUnavailable`;
    `InvalidSetting`, with the command for an operator, where some are missing and we may not
    register them.
    """
    try:
        missing = await _missing_attributes(client)
    except RPCError as error:
        if error.status not in _REFUSALS:
            raise WorkflowsUnavailable(f"Temporal does not answer: {error}.") from error
        log.warning("search attributes not known", cure=_command(client.namespace, REGISTERED))
        return
    if missing:
        await _register(client, missing)


async def _register(client: Client, missing: Sequence[Attribute]) -> None:
    request = AddSearchAttributesRequest(
        namespace=client.namespace,
        search_attributes={name: _TYPES[kind] for name, kind in missing},
    )
    try:
        await client.operator_service.add_search_attributes(request, timeout=_RPC_SECONDS)
    except RPCError as error:
        if error.status not in _REFUSALS:
            raise WorkflowsUnavailable(f"Temporal does not answer: {error}.") from error
        names = ", ".join(name for name, _ in missing)
        raise InvalidSetting(
            f"Temporal's namespace {client.namespace} lacks the search attributes {names}, and we "
            f"may not register them: run `{_command(client.namespace, missing)}`, or in Temporal "
            "Cloud add them by its own tool."
        ) from error


async def _missing_attributes(client: Client) -> list[Attribute]:
    request = ListSearchAttributesRequest(namespace=client.namespace)
    known = await client.operator_service.list_search_attributes(request, timeout=_RPC_SECONDS)
    return [(name, kind) for name, kind in REGISTERED if name not in known.custom_attributes]


def _command(namespace: str, attributes: Iterable[Attribute]) -> str:
    words = ["temporal", "operator", "search-attribute", "create", "--namespace", namespace]
    for name, kind in attributes:
        words += ["--name", name, "--type", kind]
    return shlex.join(words)
