"""How a role's process starts and ends."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

from sless.errors import SlessError
from sless.logs import configure_logs
from sless.readiness import retract_ready
from sless.settings import Settings, read_settings

Role = Callable[[Settings], Coroutine[Any, Any, None]]
"""Serves until it is cancelled."""

log = structlog.get_logger()


def run_role(role: Role, *, part: str) -> None:
    """Runs the role until SIGTERM or SIGINT cancels it, and ends the process."""
    try:
        settings = read_settings()
        configure_logs(settings, part=part)
        retract_ready(settings)
        code = asyncio.run(_until_told(role(settings)))
    except SlessError as error:
        sys.stdout.write(f"{part}: {error.message} [{error.reason}]\n")
        code = 1
    sys.stdout.flush()
    # Temporal's native threads may abort an interpreter that shuts down by itself.
    os._exit(code)


async def _until_told(work: Coroutine[Any, Any, None]) -> int:
    """The exit code: 0 when it was told to end."""
    task = asyncio.ensure_future(work)
    told = False

    def stop() -> None:
        nonlocal told
        if not told:  # uvicorn raises the signal that it heard once more
            told = True
            task.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    try:
        await task
    except asyncio.CancelledError:
        return 0 if told else 1
    except SlessError:
        raise
    except Exception:
        log.exception("role ended by a defect")
        return 1
    return 0
