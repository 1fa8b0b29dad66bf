"""What every home that warns does: SQLite and the fake; the API server joins by fixtures."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.instances import upsert_instance
from sless.adapters.sqlite.warnings import SqliteWarnings
from sless.model.deployment import Revision
from sless.model.function import FunctionRef
from sless.model.instance import Instance, InstanceState
from sless.model.warning import MESSAGE_MAX, WARNINGS_MAX, HomeWarning
from sless.ports import Warnings
from tests.fakes.warnings import FakeWarnings

HELLO = FunctionRef("warned", "hello")
BUILD = "0123456789ab"
REVISION = Revision(image="x@sha256:1", build=BUILD, runtime="python3.11")

Warn = Callable[..., Awaitable[None]]
"""`warn(function, which, message, count, ago)`: a pod or process had that, so many seconds ago."""


@pytest.fixture(params=["sqlite", "fake"])
def warnings(request: pytest.FixtureRequest, database: Database) -> Warnings:
    return FakeWarnings() if request.param == "fake" else SqliteWarnings(database)


@pytest.fixture
def warn(warnings: Warnings, database: Database) -> Warn:
    async def warn(
        function: FunctionRef = HELLO,
        *,
        which: int = 0,
        message: str = "Why not.",
        count: int = 1,
        ago: int = 0,
    ) -> None:
        seen = datetime.now(UTC) - timedelta(seconds=ago)
        if isinstance(warnings, FakeWarnings):
            told = HomeWarning(f"pod {which}", "BackOff", message, count, stamp(seen))
            warnings.warn(function, told)
            return
        row = Instance(
            function.namespace,
            function.name,
            deployment_uid=str(function),
            revision=replace(REVISION, retry=which),
            state=InstanceState.CRASHED,
            since=seen.timestamp(),
            restarts=count,
            reason="FunctionCrashed",
            message=message,
        )
        await database.write(upsert_instance, row)

    return warn


def stamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


async def find(warnings: Warnings, function: FunctionRef = HELLO) -> list[HomeWarning]:
    return list(await warnings.find(function, build=BUILD))


async def test_all_is_well(warnings: Warnings) -> None:
    assert await find(warnings) == []


async def test_a_warning_says_all_there_is(warnings: Warnings, warn: Warn) -> None:
    before = datetime.now(UTC) - timedelta(seconds=61)
    await warn(message="No\n  disk.", count=3, ago=60)
    (found,) = await find(warnings)
    assert found.about
    assert found.reason
    assert "No disk." in found.message
    assert found.count == 3
    seen = datetime.fromisoformat(found.last_seen)
    assert found.last_seen == stamp(seen)
    assert before <= seen <= datetime.now(UTC) - timedelta(seconds=60)


async def test_others_warnings_stay_theirs(warnings: Warnings, warn: Warn) -> None:
    longer, elsewhere = FunctionRef("warned", "hello-you"), FunctionRef("warned-too", "hello")
    await warn(longer, message="Longer.")
    await warn(elsewhere, message="Elsewhere.")
    assert await find(warnings) == []
    assert await find(warnings, FunctionRef("warned", "hell")) == []
    assert "Longer." in (await find(warnings, longer))[0].message
    assert "Elsewhere." in (await find(warnings, elsewhere))[0].message


async def test_the_newest_come_first_and_not_too_many(warnings: Warnings, warn: Warn) -> None:
    began = datetime.now(UTC)
    ages = [70, 10, 50, 30, 90, 20, 60, 40, 80, 0, 110, 100]
    for which, ago in enumerate(ages):
        await warn(which=which, ago=ago)
    found = [warning.last_seen for warning in await find(warnings)]
    assert len(found) == len(set(found)) == WARNINGS_MAX
    assert found == sorted(found, reverse=True)
    assert min(found) >= stamp(began - timedelta(seconds=95))


async def test_a_long_message_is_cut_in_the_middle(warnings: Warnings, warn: Warn) -> None:
    await warn(message=f"What. {'x' * 900} Why.")
    (found,) = await find(warnings)
    assert len(found.message) == MESSAGE_MAX
    assert "What. xxx" in found.message
    assert "xxx … xxx" in found.message
    assert found.message.endswith("xxx Why.")
