"""A Temporal that lets nobody at its search attributes, as a server with roles does."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from temporalio.client import Client

from sless.attributes import REGISTERED
from sless.errors import InvalidSetting, WorkflowsUnavailable
from sless.roots.temporal_namespace import ensure_attributes

pytestmark = pytest.mark.real

SCRIPT = Path(__file__).with_name("refusing.mjs")
PERMISSION_DENIED, UNIMPLEMENTED, UNAVAILABLE = 7, 12, 14
LIST, ADD = "ListSearchAttributes", "AddSearchAttributes"
CREATE = "temporal operator search-attribute create --namespace team-a"


@asynccontextmanager
async def refusing(**statuses: int) -> AsyncIterator[Client]:
    """A client of a server that answers those methods by those statuses."""
    node = shutil.which("node")
    assert node is not None, "install Node.js 20 or newer"
    process = await asyncio.create_subprocess_exec(
        node, SCRIPT, json.dumps(statuses), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        port = int(await asyncio.wait_for(process.stdout.readline(), 30))
        yield await Client.connect(f"127.0.0.1:{port}", namespace="team-a")
    finally:
        process.kill()
        await process.wait()


@pytest.mark.parametrize("status", [PERMISSION_DENIED, UNIMPLEMENTED])
async def test_who_may_not_ask_goes_on_and_tells_the_command(status: int) -> None:
    async with refusing(**{LIST: status, ADD: status}) as client:
        with capture_logs() as logs:
            await ensure_attributes(client)
    assert [line["event"] for line in logs] == ["search attributes not known"]
    cure = logs[0]["cure"]
    assert cure.startswith(CREATE)
    assert [f"--name {name} --type {kind}" in cure for name, kind in REGISTERED] == [True] * 7


@pytest.mark.parametrize("status", [PERMISSION_DENIED, UNIMPLEMENTED])
async def test_who_may_not_register_is_told_what_to_have_registered(status: int) -> None:
    async with refusing(**{ADD: status}) as client:
        with pytest.raises(InvalidSetting) as refused:
            await ensure_attributes(client)
    message = refused.value.message
    assert "namespace team-a lacks the search attributes SlessNamespace, SlessFunction," in message
    assert f"run `{CREATE} --name SlessNamespace --type Keyword" in message


@pytest.mark.parametrize("method", [LIST, ADD])
async def test_a_server_that_is_away_is_asked_again_later(method: str) -> None:
    async with refusing(**{method: UNAVAILABLE}) as client:
        with pytest.raises(WorkflowsUnavailable, match=r"Temporal does not answer: no\."):
            await ensure_attributes(client)
