"""Writes to the home's database that must not be lost: tried until it takes them."""

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

import structlog

from sless.adapters.sqlite.database import Database
from sless.errors import StoreUnavailable

_RETRY_SECONDS = 1.0
_log = structlog.get_logger()

P = ParamSpec("P")
T = TypeVar("T")


async def persist(
    database: Database,
    work: Callable[Concatenate[sqlite3.Connection, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Like `Database.write`, for as long as it takes."""
    while True:
        try:
            return await database.write(work, *args, **kwargs)
        except StoreUnavailable as error:
            _log.warning("the store does not take a row", error=error.message)
            await asyncio.sleep(_RETRY_SECONDS)
