"""Sweeps beside the worker: what no workflow was left to end."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.sweeping import sweep_jobs
from sless.errors import SlessError

SWEEP_SECONDS = 30.0
"""Between two sweeps: one list of Jobs' metadata, and of Functions' if there are any."""

log = structlog.get_logger()


@asynccontextmanager
async def sweeping(server: ApiServer, namespace: str) -> AsyncIterator[None]:
    """Sweeps that namespace of builds as long as the block lasts."""
    task = asyncio.create_task(_sweep_on(server, namespace))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _sweep_on(server: ApiServer, namespace: str) -> None:
    while True:
        try:
            await sweep_jobs(server, namespace)
        except SlessError as error:
            log.warning("sweep failed", reason=error.reason, message=error.message)
        except Exception:
            log.exception("sweep failed by a defect")
        await asyncio.sleep(SWEEP_SECONDS)
