"""A rig for each test."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.client import Client

from sless.adapters.sqlite.database import Database
from tests.workflow.rig import Rig


@pytest.fixture
async def rig(client: Client, tmp_path: Path) -> AsyncIterator[Rig]:
    database = Database(tmp_path / "home.db")
    rig = Rig(client, database)
    runner = asyncio.create_task(rig.runner.run())
    yield rig
    runner.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await runner
    database.close()
