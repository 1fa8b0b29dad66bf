"""One SQLite file shared by the home's processes: transactions, changes, errors."""

import asyncio
import contextlib
import math
import sqlite3
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from sless.adapters.sqlite.schema import ensure_schema
from sless.errors import StoreUnavailable

BUSY_SECONDS = 10.0
"""Transactions of ours take milliseconds."""

P = ParamSpec("P")
T = TypeVar("T")


class Database:
    """The file at `path`, made on first use in a folder that exists.

    Reads and writes have a connection and a thread each, so that no event loop blocks and no
    reader waits for a writer. Every method may raise `StoreUnavailable`.

    Args:
        path: Of the file.
        busy_seconds: How long a writer waits for another process's transaction.
    """

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._reader = _Session(path, busy_seconds)
        self._writer = _Session(path, busy_seconds)

    async def read(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """What `work(connection, …)` returns, run in one consistent view of the file."""
        return await self._reader.run("BEGIN", partial(_call, work, args, kwargs))

    async def write(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Likewise as the only writer: all of it is on disk, or an error and none of it."""
        return await self._writer.run("BEGIN IMMEDIATE", partial(_call, work, args, kwargs))

    async def changes(
        self, *, poll: float = 0.05, resync: float = math.inf
    ) -> AsyncGenerator[None, None]:
        """Yields at once, and again after any process has written, this one included.

        A change made while the consumer is at work is yielded next; several become one.

        Args:
            poll: Seconds between two looks.
            resync: Seconds after which it yields even if nothing was written.
        """
        # data_version tells of other connections' writes only: this one never writes.
        session = _Session(self.path, self._busy_seconds)
        try:
            seen, yielded = await session.run("BEGIN", _data_version), time.monotonic()
            yield
            while True:
                await asyncio.sleep(poll)
                found = await session.run("BEGIN", _data_version)
                if found != seen or time.monotonic() - yielded >= resync:
                    seen, yielded = found, time.monotonic()
                    yield
        finally:
            session.close()

    def close(self) -> None:
        """Ends both threads once they have finished what they are at; again, it does nothing."""
        self._reader.close()
        self._writer.close()


class _Session:
    """One connection, used by its own thread alone, opened when first used."""

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self._path = path
        self._busy_seconds = busy_seconds
        self._closed = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sqlite")
        self._connection: sqlite3.Connection | None = None

    async def run(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._transact, begin, work)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._thread.submit(self._disconnect)
            self._thread.shutdown(wait=True)

    def _transact(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        with _translated(self._path):
            connection = self._connected()
            connection.execute(begin)
            try:
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                # A full disk or a damaged file has SQLite roll back by itself.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            return result

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(
                self._path, timeout=self._busy_seconds, isolation_level=None
            )
            try:
                _prepare(connection, self._path)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _call(
    work: Callable[..., T],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    connection: sqlite3.Connection,
) -> T:
    return work(connection, *args, **kwargs)


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")  # an accepted upload survives a power cut
    connection.execute("PRAGMA journal_mode = WAL")
    ensure_schema(connection, path)


def _data_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


@contextlib.contextmanager
def _translated(path: Path) -> Iterator[None]:
    """SQLite's troubles as `StoreUnavailable`; a wrong statement stays a defect of ours."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError):
        raise
    except sqlite3.DatabaseError as error:
        raise StoreUnavailable(_sentence(path, error)) from error


def _sentence(path: Path, error: sqlite3.DatabaseError) -> str:
    # The low byte is the error's kind; the rest tells variants of it apart.
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL:
            return f"{path} cannot grow: its disk is full. Free some space."
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"{path} stayed locked by another process: try again."
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return f"{path} is damaged or no database ({error}): restore it from a backup."
        case sqlite3.SQLITE_CANTOPEN:
            return f"{path} cannot be opened: its folder is missing or not writable."
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return f"{path} cannot be written: check who owns it."
        case _:
            return f"{path} cannot be used: {error}."
