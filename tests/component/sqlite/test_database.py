"""The home's file among processes: changes, kills, locks, damage and other versions."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.routes import (
    delete_route,
    find_route,
    list_routes,
    upsert_route,
)
from sless.errors import StoreUnavailable
from sless.model.routed import Routed
from tests.fixtures.waiting import until

ROUTE = Routed("team", "hello", "uid", 1, "abc", 8000)
DEADLINE = 20.0

COUNT = """
import asyncio, pathlib, sys
from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.routes import find_route, upsert_route
from sless.model.routed import Routed

def count(connection):
    found = find_route(connection, "team", "hello")
    count = found.generation + 1 if found else 1
    upsert_route(connection, Routed("team", "hello", "uid", count, "", 0))

async def main():
    database = Database(pathlib.Path(sys.argv[1]))
    for _ in range(int(sys.argv[2])):
        await database.write(count)
    database.close()

asyncio.run(main())
"""
"""Counts a row up in as many transactions."""

HALF = """
import asyncio, os, pathlib, signal, sys
from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.routes import upsert_route
from sless.model.routed import Routed

def write_half(connection):
    for number in range(2000):
        upsert_route(connection, Routed("team", f"f{number}", "uid", 2, "", 0))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(Database(pathlib.Path(sys.argv[1])).write(write_half))
"""
"""Is killed in the middle of a transaction."""


def start(script: str, *arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)], cwd=Path(__file__).parents[3]
    )


async def test_rows_come_back(database: Database) -> None:
    assert await database.read(list_routes) == []
    await database.write(upsert_route, ROUTE)
    assert await database.read(find_route, "team", "hello") == ROUTE
    await database.write(delete_route, "team", "hello")
    assert await database.read(list_routes) == []


async def test_a_failed_write_leaves_nothing(database: Database) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        upsert_route(connection, ROUTE)
        raise KeyError("on the way")

    with pytest.raises(KeyError):
        await database.write(fail)
    assert await database.read(list_routes) == []
    await database.write(upsert_route, ROUTE)


async def test_a_read_sees_one_moment(database: Database, tmp_path: Path) -> None:
    other = Database(tmp_path / "home.db")
    loop = asyncio.get_running_loop()

    def read_twice(connection: sqlite3.Connection) -> bool:
        first = list_routes(connection)
        asyncio.run_coroutine_threadsafe(other.write(upsert_route, ROUTE), loop).result(DEADLINE)
        return list_routes(connection) == first

    assert await database.read(read_twice)
    assert await database.read(list_routes) == [ROUTE]
    other.close()


async def test_processes_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "home.db"
    processes = [start(COUNT, path, 50) for _ in range(3)]  # they make the file together, too
    assert [await asyncio.to_thread(each.wait, 60) for each in processes] == [0, 0, 0]
    database = Database(path)
    found = await database.read(find_route, "team", "hello")
    assert found is not None
    assert found.generation == 150
    database.close()


async def test_killed_in_a_transaction_it_is_whole(database: Database) -> None:
    await database.write(upsert_route, ROUTE)
    process = start(HALF, database.path)
    assert await asyncio.to_thread(process.wait, 60) == -signal.SIGKILL
    assert await database.read(list_routes) == [ROUTE]
    await database.write(upsert_route, ROUTE)


@contextlib.asynccontextmanager
async def counting(database: Database, **options: float) -> AsyncIterator[list[None]]:
    """Changes as they are noticed."""
    seen: list[None] = []

    async def follow() -> None:
        async for change in database.changes(poll=0.01, **options):
            seen.append(change)  # noqa: PERF401  # looked at while it grows

    task = asyncio.create_task(follow())
    yield seen
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_changes_of_all_are_noticed(database: Database, tmp_path: Path) -> None:
    other = Database(tmp_path / "home.db")
    async with counting(database) as seen:
        await until(lambda: len(seen) == 1)  # at once, for what is there already
        await database.write(upsert_route, ROUTE)
        await until(lambda: len(seen) == 2)
        await other.write(delete_route, "team", "hello")
        await until(lambda: len(seen) == 3)
        await database.write(delete_route, "nobody", "nothing")
        await other.read(list_routes)
        await asyncio.sleep(0.1)  # ten looks at what did not change
        assert len(seen) == 3
    other.close()


async def test_a_resync_comes_without_a_change(database: Database) -> None:
    async with counting(database, resync=0.02) as seen:
        await until(lambda: len(seen) >= 3)


async def test_a_change_while_the_consumer_works_comes_next(database: Database) -> None:
    changes = database.changes(poll=0.01)
    await anext(changes)
    await database.write(upsert_route, ROUTE)
    async with asyncio.timeout(DEADLINE):
        await anext(changes)
    await changes.aclose()


async def test_a_newer_schema_is_refused(database: Database) -> None:
    await database.read(list_routes)
    database.close()
    with contextlib.closing(sqlite3.connect(database.path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    newer = Database(database.path)
    with pytest.raises(StoreUnavailable, match=r"newer sless \(schema 99.*upgrade"):
        await newer.read(list_routes)
    newer.close()


async def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "home.db"
    path.write_bytes(b"what is this? " * 1000)
    database = Database(path)
    with pytest.raises(StoreUnavailable, match="damaged or no database"):
        await database.read(list_routes)
    database.close()


async def test_a_damaged_page_is_told(database: Database) -> None:
    await database.write(fill)
    database.close()
    size = os.stat(database.path).st_size  # noqa: PTH116  # a test may wait for a file
    descriptor = os.open(database.path, os.O_WRONLY)
    os.pwrite(descriptor, os.urandom(size - 8192), 8192)
    os.close(descriptor)
    damaged = Database(database.path)
    with pytest.raises(StoreUnavailable, match="restore it from a backup"):
        await damaged.read(list_routes)
    damaged.close()


def fill(connection: sqlite3.Connection) -> None:
    for number in range(500):
        upsert_route(connection, Routed("team", f"f{number}", "uid" * 30, 1, "abc", 1))


async def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    database = Database(tmp_path / "nowhere" / "home.db")
    with pytest.raises(StoreUnavailable, match="folder is missing"):
        await database.write(upsert_route, ROUTE)
    database.close()


async def test_a_full_disk_is_told_and_leaves_the_file_whole(database: Database) -> None:
    def limit(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA max_page_count = 20")  # as SQLite sees a disk that is full

    await database.write(upsert_route, ROUTE)
    await database.write(limit)
    with pytest.raises(StoreUnavailable, match="disk is full"):
        await database.write(fill)
    assert await database.read(list_routes) == [ROUTE]


async def test_a_lock_that_stays_is_told(tmp_path: Path) -> None:
    database = Database(tmp_path / "home.db", busy_seconds=0.05)
    await database.read(list_routes)
    with contextlib.closing(sqlite3.connect(database.path, isolation_level=None)) as blocker:
        blocker.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked by another process"):
            await database.write(upsert_route, ROUTE)
        assert await database.read(list_routes) == []  # readers do not wait for writers
    await database.write(upsert_route, ROUTE)
    database.close()


async def test_a_wrong_statement_is_a_defect(database: Database) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        await database.write(lambda c: c.execute("INSERT INTO version VALUES (2, 0)"))
