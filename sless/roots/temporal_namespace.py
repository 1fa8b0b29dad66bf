"""What Temporal's namespace must have before a workflow starts in it."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
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
from sless.errors import InvalidSetting, SlessError, WorkflowsUnavailable

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
    """Keeps closed runs for `RETENTION`; raises `WorkflowsUnavailable`, `InvalidSetting`."""
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
        raise _translate(error, client.namespace) from error


async def ensure_attributes(client: Client) -> None:
    """Registers the search attributes that the namespace lacks: without one, no run would start.

    Where we may not even ask, they are believed to be there. Raises `WorkflowsUnavailable`;
    `InvalidSetting`, with what an operator has to do, where the namespace or some of them are
    missing and we may not register them, or where one is of another type.
    """
    namespace = client.namespace
    try:
        known = await _known_attributes(client)
    except RPCError as error:
        if error.status not in _REFUSALS:
            raise _translate(error, namespace) from error
        log.warning("search attributes not known", cure=_command(namespace, REGISTERED))
        return
    _check_types(known, namespace)
    if missing := [(name, kind) for name, kind in REGISTERED if name not in known]:
        await _register(client, missing)


def _check_types(known: Mapping[str, int], namespace: str) -> None:
    """Raises `InvalidSetting` for an attribute of another type: no run with it would start."""
    wrong = [name for name, kind in REGISTERED if known.get(name, _TYPES[kind]) != _TYPES[kind]]
    if wrong:
        words = ["temporal", "operator", "search-attribute", "remove", "--namespace", namespace]
        words += [word for name in wrong for word in ("--name", name)]
        raise InvalidSetting(
            f"Temporal's namespace {namespace} has the search attributes {', '.join(wrong)} with "
            "another type than ours: give us a namespace that nobody else uses "
            f"(TEMPORAL_NAMESPACE), or run `{shlex.join(words)}` and start again."
        )


async def _register(client: Client, missing: Sequence[Attribute]) -> None:
    request = AddSearchAttributesRequest(
        namespace=client.namespace,
        search_attributes={name: _TYPES[kind] for name, kind in missing},
    )
    try:
        await client.operator_service.add_search_attributes(request, timeout=_RPC_SECONDS)
    except RPCError as error:
        raise _refused(error, client.namespace, missing) from error


def _refused(error: RPCError, namespace: str, missing: Sequence[Attribute]) -> SlessError:
    if error.status is RPCStatusCode.INVALID_ARGUMENT:  # it has as many as it may have, say
        why = str(error).rstrip(".")
        return InvalidSetting(
            f"Temporal's namespace {namespace} does not take our search attributes ({why}): give "
            "us one that nobody else uses (TEMPORAL_NAMESPACE)."
        )
    if error.status not in _REFUSALS:
        return _translate(error, namespace)
    names = ", ".join(name for name, _ in missing)
    return InvalidSetting(
        f"Temporal's namespace {namespace} lacks the search attributes {names}, and we may not "
        f"register them: run `{_command(namespace, missing)}`, or in Temporal Cloud add them by "
        "its own tool."
    )


async def _known_attributes(client: Client) -> Mapping[str, int]:
    """The type of each by its name."""
    request = ListSearchAttributesRequest(namespace=client.namespace)
    known = await client.operator_service.list_search_attributes(request, timeout=_RPC_SECONDS)
    return dict(known.custom_attributes)


def _translate(error: RPCError, namespace: str) -> SlessError:
    if error.status is RPCStatusCode.NOT_FOUND:
        words = ["temporal", "operator", "namespace", "create", "--namespace", namespace]
        return InvalidSetting(
            f"Temporal has no namespace {namespace}: name another one in TEMPORAL_NAMESPACE, or "
            f"create it by `{shlex.join(words)}`, or in Temporal Cloud by its own tool."
        )
    return WorkflowsUnavailable(f"Temporal does not answer: {error}.")


def _command(namespace: str, attributes: Iterable[Attribute]) -> str:
    words = ["temporal", "operator", "search-attribute", "create", "--namespace", namespace]
    for name, kind in attributes:
        words += ["--name", name, "--type", kind]
    return shlex.join(words)
