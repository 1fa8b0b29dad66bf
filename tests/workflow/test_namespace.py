"""What Temporal's namespace is given before a workflow starts in it."""

import sys
from pathlib import Path

import pytest
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from sless.attributes import REGISTERED
from sless.roots.temporal_namespace import RETENTION, ensure_attributes, ensure_retention

pytestmark = pytest.mark.real


async def test_closed_runs_are_kept_for_a_month(client: Client) -> None:
    await ensure_retention(client)
    described = await client.workflow_service.describe_namespace(
        DescribeNamespaceRequest(namespace=client.namespace)
    )
    assert described.config.workflow_execution_retention_ttl.ToTimedelta() == RETENTION


async def test_search_attributes_are_registered_once() -> None:
    program = str(Path(sys.executable).parent / "temporal")
    async with await WorkflowEnvironment.start_local(dev_server_existing_path=program) as bare:
        for _ in range(2):
            await ensure_attributes(bare.client)
        known = await bare.client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=bare.client.namespace)
        )
    assert {name for name, _ in REGISTERED} <= set(known.custom_attributes)
