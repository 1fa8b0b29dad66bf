"""What Temporal's namespace is given before a workflow starts in it, and what it may lack."""

import shlex
import subprocess
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
)
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from sless.attributes import REGISTERED
from sless.errors import InvalidSetting
from sless.roots.temporal_namespace import RETENTION, ensure_attributes, ensure_retention
from tests.fixtures.waiting import until

pytestmark = pytest.mark.real

PROGRAM = str(Path(sys.executable).parent / "temporal")
INT = IndexedValueType.INDEXED_VALUE_TYPE_INT
KEYWORD = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD


async def in_namespace(client: Client, name: str) -> Client:
    """A client of a namespace that is made for it."""
    retention = Duration()
    retention.FromTimedelta(timedelta(days=3))
    request = RegisterNamespaceRequest(
        namespace=name, workflow_execution_retention_period=retention
    )
    await client.workflow_service.register_namespace(request)
    inside = await elsewhere(client, name)

    async def known() -> bool:
        try:
            await types_in(inside)
        except RPCError:  # a server notices new ones by and by
            return False
        return True

    await until(known)
    return inside


async def elsewhere(client: Client, namespace: str) -> Client:
    return await Client.connect(client.service_client.config.target_host, namespace=namespace)


async def types_in(client: Client) -> dict[str, int]:
    known = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    return dict(known.custom_attributes)


async def register(client: Client, **types: "IndexedValueType.ValueType") -> None:
    await client.operator_service.add_search_attributes(
        AddSearchAttributesRequest(namespace=client.namespace, search_attributes=types)
    )


def run(command: str, client: Client) -> None:
    """A command as an operator copies it from a message."""
    program, *words = shlex.split(command)
    assert program == "temporal"
    address = client.service_client.config.target_host
    subprocess.run([PROGRAM, *words, "--yes", "--address", address], check=True, timeout=30)


async def test_closed_runs_are_kept_for_a_month(client: Client) -> None:
    await ensure_retention(client)
    described = await client.workflow_service.describe_namespace(
        DescribeNamespaceRequest(namespace=client.namespace)
    )
    assert described.config.workflow_execution_retention_ttl.ToTimedelta() == RETENTION


async def test_search_attributes_are_registered_once(client: Client) -> None:
    inside = await in_namespace(client, "once")
    for _ in range(2):
        await ensure_attributes(inside)
    assert {name for name, _ in REGISTERED} <= set(await types_in(inside))


async def test_an_attribute_of_another_type_is_named_with_its_cure(client: Client) -> None:
    inside = await in_namespace(client, "mistyped")
    await register(inside, SlessPhase=INT, SlessGeneration=KEYWORD)
    with pytest.raises(InvalidSetting) as refused:
        await ensure_attributes(inside)
    message = refused.value.message
    assert "namespace mistyped has the search attributes SlessPhase, SlessGeneration" in message
    assert "TEMPORAL_NAMESPACE" in message
    assert set(await types_in(inside)) == {"SlessPhase", "SlessGeneration"}
    run(message.split("`")[1], inside)
    await ensure_attributes(inside)
    types = await types_in(inside)
    assert (types["SlessPhase"], types["SlessGeneration"]) == (KEYWORD, INT)


async def test_a_namespace_that_takes_no_more_attributes_is_named(client: Client) -> None:
    inside = await in_namespace(client, "crowded")
    await register(inside, **{f"Theirs{number}": KEYWORD for number in range(8)})
    with pytest.raises(InvalidSetting) as refused:
        await ensure_attributes(inside)
    message = refused.value.message
    assert "namespace crowded does not take our search attributes (" in message
    assert "cannot have more than 10 search attribute of type Keyword)" in message
    assert message.endswith("give us one that nobody else uses (TEMPORAL_NAMESPACE).")


@pytest.mark.parametrize("ensure", [ensure_attributes, ensure_retention])
async def test_a_namespace_that_is_not_there_is_named_with_its_cure(
    client: Client, ensure: Callable[[Client], Awaitable[None]]
) -> None:
    absent = await elsewhere(client, "no-where")
    with pytest.raises(InvalidSetting) as refused:
        await ensure(absent)
    message = refused.value.message
    assert message.startswith("Temporal has no namespace no-where: ")
    assert "`temporal operator namespace create --namespace no-where`" in message
