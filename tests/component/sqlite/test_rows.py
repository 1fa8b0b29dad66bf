"""Instances, jobs and rubbish: what SQLite keeps beside the ports."""

import asyncio
import sqlite3
import time
from dataclasses import replace

import pytest

from sless.adapters.sqlite.availability import judge
from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.deployments import SqliteDeployments, list_deployments
from sless.adapters.sqlite.functions import SqliteFunctions
from sless.adapters.sqlite.instances import (
    delete_instance,
    list_instances,
    upsert_instance,
)
from sless.adapters.sqlite.jobs import (
    Job,
    JobSpec,
    Wanted,
    delete_job,
    find_job,
    insert_job,
    list_jobs,
    report_job,
    want_job_deleted,
)
from sless.errors import InternalError
from sless.model.attempt import AttemptState
from sless.model.deployment import Availability, Deployment, Progress, Revision
from sless.model.function import EnvVar
from sless.model.instance import Instance, InstanceState

SPEC = {"s3Key": f"functions/team/hello/{'a' * 64}-python3.11.zip", "runtime": "python3.11"}
REVISION = Revision(
    image="x@sha256:1", build="0" * 12, runtime="python3.11", env=(EnvVar("A", "1"),)
)
INSTANCE = Instance(
    "team", "hello", "deployment", REVISION, InstanceState.STARTING, since=1000.25, pid=7
)
JOB = Job(
    name="build-hello-1",
    namespace="team",
    function="hello",
    uid="uid",
    build="0" * 12,
    nonce="n",
    spec=JobSpec("http://secret", "ab" * 32, "python3.11", 0, 900),
)


@pytest.fixture
async def deployed(database: Database) -> Deployment:
    made = await SqliteFunctions(database).create("team", "hello", spec=SPEC, manager="test")
    deployments = SqliteDeployments(database, progress_deadline=60)
    return await deployments.create(Deployment("team", "hello", made.function.ask, REVISION))


async def availability(database: Database) -> Availability:
    found = await SqliteDeployments(database, progress_deadline=60).find("team", "hello")
    assert found is not None
    return found.availability


async def test_instances_come_back(database: Database) -> None:
    crashed = replace(INSTANCE, state=InstanceState.CRASHED, reason="FunctionCrashed", restarts=2)
    await database.write(upsert_instance, INSTANCE)
    await database.write(upsert_instance, crashed)
    assert await database.read(list_instances) == [crashed]
    retried = replace(INSTANCE, revision=replace(REVISION, retry=2))
    await database.write(upsert_instance, retried)
    assert len(await database.read(list_instances)) == 2
    key = {"deployment_uid": "deployment", "instance": retried.instance}
    await database.write(delete_instance, **key)
    assert await database.read(list_instances) == [crashed]


async def test_the_present_revision_is_judged_by_its_row(
    database: Database, deployed: Deployment
) -> None:
    assert await availability(database) == Availability(Progress.PROGRESSING)
    row = replace(INSTANCE, deployment_uid=deployed.uid, since=time.time())
    await database.write(upsert_instance, row)
    assert await availability(database) == Availability(Progress.PROGRESSING)
    other = replace(row, revision=replace(REVISION, retry=2), state=InstanceState.READY)
    await database.write(upsert_instance, other)
    assert await availability(database) == Availability(Progress.PROGRESSING)
    await database.write(upsert_instance, replace(row, state=InstanceState.READY))
    assert await availability(database) == Availability(Progress.AVAILABLE)


async def test_instances_outlive_their_function(database: Database, deployed: Deployment) -> None:
    await database.write(upsert_instance, replace(INSTANCE, deployment_uid=deployed.uid))
    await SqliteFunctions(database).delete("team", "hello")
    assert await database.read(list_deployments) == []
    assert len(await database.read(list_instances)) == 1


STARTING, READY, CRASHED = InstanceState.STARTING, InstanceState.READY, InstanceState.CRASHED


@pytest.mark.parametrize(
    ("state", "restarts", "age", "good", "expected"),
    [
        (STARTING, 0, 59, False, Progress.PROGRESSING),
        (STARTING, 0, 61, False, Progress.FAILED),
        (STARTING, 0, 61, True, Progress.PROGRESSING),
        (STARTING, 2, 1, False, Progress.PROGRESSING),
        (CRASHED, 2, 1, False, Progress.PROGRESSING),
        (CRASHED, 3, 1, False, Progress.FAILED),
        (STARTING, 3, 1, False, Progress.FAILED),
        (CRASHED, 9, 1, True, Progress.PROGRESSING),
        (READY, 9, 900, False, Progress.AVAILABLE),
    ],
)
def test_judgement(
    state: InstanceState, restarts: int, age: float, *, good: bool, expected: Progress
) -> None:
    row = replace(INSTANCE, state=state, restarts=restarts, since=1000)
    assert judge(row, good=good, deadline=60, now=1000 + age).progress is expected


def test_a_judgement_carries_its_reason() -> None:
    row = replace(
        INSTANCE, state=CRASHED, restarts=3, reason="HandlerImportFailed", message="ImportError: x"
    )
    failed = Availability(Progress.FAILED, "HandlerImportFailed", "ImportError: x")
    assert judge(row, good=False, deadline=60, now=1) == failed
    assert judge(row, good=True, deadline=60, now=1) == replace(
        failed, progress=Progress.PROGRESSING
    )
    slow = judge(INSTANCE, good=False, deadline=60, now=5000)
    assert slow.reason == "ReadinessTimedOut"
    assert "60 s" in slow.message


async def test_a_job_has_two_writers(database: Database) -> None:
    assert await database.write(insert_job, JOB)
    assert not await database.write(insert_job, replace(JOB, uid="another"))
    await database.write(want_job_deleted, JOB.name)
    assert await database.write(
        report_job, JOB.name, state=AttemptState.FAILED, reason="BuildFailed", log="/log"
    )
    found = await database.read(find_job, JOB.name)
    assert found == replace(
        JOB, wanted=Wanted.DELETE, state=AttemptState.FAILED, reason="BuildFailed", log="/log"
    )
    await database.write(delete_job, JOB.name)
    assert await database.read(list_jobs) == []
    assert not await database.write(report_job, JOB.name, state=AttemptState.FAILED)


def test_a_presigned_url_is_not_shown() -> None:
    assert "secret" not in repr(JOB)


@pytest.mark.parametrize(
    "manifest", ["{", "[]", "{}", '{"metadata": {"generation": true}, "spec": {}}']
)
async def test_a_manifest_edited_by_hand_is_told(database: Database, manifest: str) -> None:
    functions = SqliteFunctions(database)
    await functions.create("team", "hello", spec=SPEC, manager="test")
    await database.write(edit, "UPDATE functions SET manifest = ?", manifest)
    reads = [
        functions.find("team", "hello"),
        functions.list(),
        functions.patch("team", "hello", spec={"request": "x"}, manager="test"),
    ]
    for told in await asyncio.gather(*reads, return_exceptions=True):
        assert isinstance(told, InternalError)
        assert "team/hello cannot be read" in told.message
    await functions.delete("team", "hello")
    await functions.create("team", "hello", spec=SPEC, manager="test")


async def test_a_manifest_under_another_name_is_told(database: Database) -> None:
    functions = SqliteFunctions(database)
    await functions.create("team", "hello", spec=SPEC, manager="test")
    await database.write(edit, "UPDATE functions SET name = ?", "other")
    with pytest.raises(InternalError, match="it is the manifest of team/hello"):
        await functions.find("team", "other")


async def test_a_deployment_edited_by_hand_is_told(
    database: Database, deployed: Deployment
) -> None:
    await database.write(edit, "UPDATE deployments SET revision = ?", "{}")
    with pytest.raises(InternalError, match="team/hello cannot be read"):
        await SqliteDeployments(database, progress_deadline=60).find(
            deployed.namespace, deployed.name
        )


def edit(connection: sqlite3.Connection, statement: str, value: str) -> None:
    connection.execute(statement, (value,))
