"""A real Temporal dev server for the session, a rig for each test."""

import asyncio
import contextlib
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from temporalio.client import Client

from sless.adapters.sqlite.database import Database
from sless.local.temporal import TemporalServer
from tests.fixtures.ports import free_port
from tests.workflow.rig import Rig


@pytest.fixture(scope="session")
def temporal_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TemporalServer]:
    folder = tmp_path_factory.mktemp("temporal")
    server = TemporalServer(folder / "temporal.db", port=free_port(), ui_port=free_port())
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(server.command(), stdout=log, stderr=subprocess.STDOUT)
        try:
            yield server
        finally:
            process.terminate()
            process.wait(timeout=20)


@pytest.fixture
async def client(temporal_server: TemporalServer) -> Client:
    async with asyncio.timeout(30):
        while True:
            with contextlib.suppress(RuntimeError):
                return await Client.connect(temporal_server.address)
            await asyncio.sleep(0.1)


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
