"""The embedded home's Temporal server."""

import pytest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client

from sless.local.temporal import RETENTION, ensure_retention

pytestmark = pytest.mark.real


async def test_closed_runs_are_kept_for_a_month(client: Client) -> None:
    await ensure_retention(client)
    described = await client.workflow_service.describe_namespace(
        DescribeNamespaceRequest(namespace=client.namespace)
    )
    assert described.config.workflow_execution_retention_ttl.ToTimedelta() == RETENTION
