"""What every store of Deployments does: SQLite; the API server joins by one more parameter."""

import asyncio
from dataclasses import replace

import pytest

from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.deployments import SqliteDeployments
from sless.adapters.sqlite.functions import SqliteFunctions
from sless.errors import AlreadyExists, OwnerGone, VersionConflict
from sless.model.deployment import Deployment, FailedNote, Revision
from sless.model.function import Ask, EnvVar, Function
from sless.ports import Deployments, Functions

SPEC = {"s3Key": f"functions/team/hello/{'a' * 64}-python3.11.zip", "runtime": "python3.11"}
FIRST = Revision(
    image=f"x@sha256:{'1' * 64}",
    build="0" * 12,
    runtime="python3.11",
    handler="main:app",
    env=(EnvVar("B", "ü\n"), EnvVar("A", "$(B)")),
)
SECOND = replace(FIRST, image=f"x@sha256:{'2' * 64}", handler=None, command=("./run", "a b"))


@pytest.fixture(params=["sqlite"])
def functions(database: Database) -> Functions:
    return SqliteFunctions(database)


@pytest.fixture
def deployments(functions: Functions, database: Database) -> Deployments:
    assert isinstance(functions, SqliteFunctions)
    return SqliteDeployments(database, progress_deadline=60)


@pytest.fixture
async def function(functions: Functions) -> Function:
    made = await functions.create("team", "hello", spec=SPEC, manager="test")
    return made.function


@pytest.fixture
async def deployed(deployments: Deployments, function: Function) -> Deployment:
    return await deployments.create(fresh(function))


def fresh(function: Function) -> Deployment:
    return Deployment(namespace="team", name="hello", ask=function.ask, revision=FIRST)


async def find(deployments: Deployments) -> Deployment:
    found = await deployments.find("team", "hello")
    assert found is not None
    return found


async def test_what_was_created_is_found(
    deployments: Deployments, function: Function, deployed: Deployment
) -> None:
    assert deployed.uid
    assert deployed.resource_version
    assert deployed.ask == function.ask
    assert deployed.revision == FIRST
    assert await find(deployments) == deployed


async def test_absent_is_none(deployments: Deployments) -> None:
    assert await deployments.find("team", "hello") is None


async def test_it_is_created_once(
    deployments: Deployments, function: Function, deployed: Deployment
) -> None:
    with pytest.raises(AlreadyExists):
        await deployments.create(replace(fresh(function), revision=SECOND))
    assert await find(deployments) == deployed


async def test_of_many_creators_one_wins(deployments: Deployments, function: Function) -> None:
    made = await asyncio.gather(
        *(deployments.create(fresh(function)) for _ in range(10)), return_exceptions=True
    )
    assert sum(isinstance(each, AlreadyExists) for each in made) == 9


async def test_it_needs_its_function(
    deployments: Deployments, functions: Functions, function: Function
) -> None:
    with pytest.raises(OwnerGone):
        await deployments.create(replace(fresh(function), ask=Ask("another", 1)))
    with pytest.raises(OwnerGone):
        await deployments.create(replace(fresh(function), name="other"))
    await functions.delete("team", "hello")
    with pytest.raises(OwnerGone, match="team/hello"):
        await deployments.create(fresh(function))


async def test_it_goes_with_its_function(
    deployments: Deployments, functions: Functions, deployed: Deployment
) -> None:
    await functions.patch("team", "hello", spec={"handler": "a:b"}, manager="test")
    assert await find(deployments) == deployed
    await functions.delete("team", "hello")
    assert await deployments.find("team", "hello") is None
    with pytest.raises(VersionConflict, match="gone"):
        await deployments.swap(replace(deployed, revision=SECOND))


async def test_a_swap_writes_everything(deployments: Deployments, deployed: Deployment) -> None:
    ask = replace(deployed.ask, generation=2)
    note = FailedNote(ask=ask, hash=SECOND.hash, reason="FunctionCrashed", message="exit\n1")
    wanted = replace(deployed, ask=ask, revision=SECOND, good=FIRST, failed=note)
    written = await deployments.swap(wanted)
    assert written.resource_version != deployed.resource_version
    assert written == replace(wanted, resource_version=written.resource_version)
    assert await find(deployments) == written
    cleared = await deployments.swap(replace(written, failed=None, good=None))
    assert await find(deployments) == cleared
    assert (cleared.good, cleared.failed) == (None, None)


async def test_a_swap_that_changes_nothing_writes_nothing(
    deployments: Deployments, deployed: Deployment
) -> None:
    assert await deployments.swap(deployed) == deployed
    assert await find(deployments) == deployed


async def test_a_stale_swap_conflicts(deployments: Deployments, deployed: Deployment) -> None:
    written = await deployments.swap(replace(deployed, revision=SECOND))
    with pytest.raises(VersionConflict, match="read it again"):
        await deployments.swap(replace(deployed, good=FIRST))
    with pytest.raises(VersionConflict):
        await deployments.swap(replace(written, uid="another", good=FIRST))
    assert await find(deployments) == written


async def test_of_many_swaps_one_wins(deployments: Deployments, deployed: Deployment) -> None:
    swaps = [
        deployments.swap(replace(deployed, revision=replace(FIRST, retry=number)))
        for number in range(1, 21)
    ]
    results = await asyncio.gather(*swaps, return_exceptions=True)
    assert sum(isinstance(result, VersionConflict) for result in results) == 19


async def test_asks_never_go_backwards(deployments: Deployments, deployed: Deployment) -> None:
    newer = await deployments.swap(replace(deployed, ask=replace(deployed.ask, generation=3)))
    with pytest.raises(VersionConflict, match="newer than 2"):
        await deployments.swap(replace(newer, ask=replace(deployed.ask, generation=2)))
    with pytest.raises(VersionConflict, match="another Function"):
        await deployments.swap(replace(newer, ask=Ask("another", 4)))
    assert await find(deployments) == newer


async def test_a_deployment_of_another_uid_is_not_deleted(
    deployments: Deployments, deployed: Deployment
) -> None:
    await deployments.delete(replace(deployed, uid="another"))
    assert await find(deployments) == deployed
    await deployments.delete(deployed)
    assert await deployments.find("team", "hello") is None
    await deployments.delete(deployed)


async def test_a_new_deployment_is_another(
    deployments: Deployments, function: Function, deployed: Deployment
) -> None:
    await deployments.delete(deployed)
    again = await deployments.create(fresh(function))
    assert again.uid != deployed.uid
    assert int(again.resource_version) > int(deployed.resource_version)
