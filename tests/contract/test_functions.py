"""What every store of Functions does: SQLite; the API server joins by one more parameter."""

import asyncio
import contextlib
import functools
from collections.abc import Mapping
from typing import Any, Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.functions import SqliteFunctions
from sless.errors import (
    AlreadyExists,
    FunctionNotFound,
    InvalidKey,
    InvalidName,
    InvalidSetting,
    ManagedElsewhere,
    VersionConflict,
)
from sless.manifests import merge_patch
from sless.manifests.ownership import parse_owners
from sless.ports import Functions
from sless.ports.functions import StoredFunction

API = "sless-api"


@pytest.fixture(params=["sqlite"])
def functions(database: Database) -> Functions:
    return SqliteFunctions(database)


class Apply(Protocol):
    """A server-side apply of team/hello, as GitOps does: no part of the port."""

    async def __call__(
        self,
        *,
        spec: Mapping[str, object],
        annotations: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
        manager: str,
        force: bool = False,
    ) -> StoredFunction: ...


@pytest.fixture
def apply(functions: Functions) -> Apply:
    assert isinstance(functions, SqliteFunctions)
    return functools.partial(functions.apply, "team", "hello")


def key(runtime: str = "python3.11", *, name: str = "hello", zip_: str = "a") -> str:
    return f"functions/team/{name}/{zip_ * 64}-{runtime}.zip"


def spec(**fields: object) -> dict[str, object]:
    return {"s3Key": key(), "runtime": "python3.11", **fields}


async def create(functions: Functions, **fields: object) -> StoredFunction:
    return await functions.create("team", "hello", spec=spec(**fields), manager=API)


async def patch(functions: Functions, **fields: object) -> StoredFunction:
    return await functions.patch("team", "hello", spec=fields, manager=API)


async def get(functions: Functions) -> StoredFunction:
    found = await functions.find("team", "hello")
    assert found is not None
    return found


async def test_a_new_function_is_its_manifest(functions: Functions) -> None:
    made = await create(functions, handler="main:app", env=[{"name": "A", "value": "1"}])
    metadata = made.manifest["metadata"]
    assert (metadata["namespace"], metadata["name"], metadata["generation"]) == ("team", "hello", 1)
    assert made.manifest["apiVersion"] == "sless.io/v1alpha1"
    assert made.manifest["kind"] == "Function"
    assert metadata["creationTimestamp"].endswith("Z")
    assert made.manifest["spec"] == spec(handler="main:app", env=[{"name": "A", "value": "1"}])
    assert made.function.uid == metadata["uid"]
    assert await get(functions) == made


async def test_a_name_is_taken_once(functions: Functions) -> None:
    first = await create(functions)
    with pytest.raises(AlreadyExists, match="team/hello"):
        await create(functions)
    assert await get(functions) == first


async def test_absent_is_none(functions: Functions) -> None:
    assert await functions.find("team", "hello") is None
    assert (await functions.list()).items == ()
    with pytest.raises(FunctionNotFound, match="team/hello"):
        await patch(functions, handler="a:b")
    with pytest.raises(FunctionNotFound, match="team/hello"):
        await functions.delete("team", "hello")


async def test_the_same_name_is_another_function_after_deletion(functions: Functions) -> None:
    first = await create(functions)
    await functions.delete("team", "hello")
    second = await create(functions)
    assert second.function.uid != first.function.uid
    assert second.function.generation == 1
    assert int(second.function.resource_version) > int(first.function.resource_version)


async def test_deletion_can_be_of_one_uid_only(functions: Functions) -> None:
    first = await create(functions)
    with pytest.raises(FunctionNotFound):
        await functions.delete("team", "hello", uid="another")
    await functions.delete("team", "hello", uid=first.function.uid)
    assert await functions.find("team", "hello") is None


async def test_the_generation_rises_with_the_spec_alone(functions: Functions) -> None:
    await create(functions)
    changed = await patch(functions, handler="main:app")
    assert changed.function.generation == 2
    annotated = await functions.patch("team", "hello", annotations={"a": "b"}, manager=API)
    assert annotated.function.generation == 2
    assert annotated.function.annotations == {"a": "b"}
    await functions.write_status(
        "team", "hello", uid=changed.function.uid, status={"phase": "Ready"}
    )
    assert (await get(functions)).function.generation == 2
    assert (await patch(functions, request="again")).function.generation == 3


async def test_each_change_has_a_version_of_its_own(functions: Functions) -> None:
    seen = [await create(functions), await patch(functions, handler="a:b")]
    seen.append(await functions.create("team", "b", spec=spec(s3Key=key(name="b")), manager=API))
    seen.append(await functions.patch("team", "hello", annotations={"a": "b"}, manager=API))
    versions = [int(each.function.resource_version) for each in seen]
    assert versions == sorted(set(versions))


async def test_what_changes_nothing_writes_nothing(functions: Functions) -> None:
    made = await create(functions, handler="a:b")
    await functions.write_status("team", "hello", uid=made.function.uid, status={"phase": "Ready"})
    before = await get(functions)
    await patch(functions, handler="a:b", request=None)
    await functions.patch("team", "hello", annotations={"absent": None}, manager="another")
    await functions.write_status("team", "hello", uid=made.function.uid, status={"phase": "Ready"})
    assert await get(functions) == before


async def test_a_patch_merges_and_none_removes(functions: Functions) -> None:
    await create(functions, handler="a:b", env=[{"name": "A", "value": "1"}])
    changed = await patch(functions, handler=None, command=["./run"], env=[])
    assert changed.manifest["spec"] == spec(command=["./run"], env=[])
    assert changed.function.spec.handler is None
    await functions.patch("team", "hello", annotations={"x": "1", "y": "2"}, manager=API)
    left = await functions.patch("team", "hello", annotations={"x": None}, manager=API)
    assert left.function.annotations == {"y": "2"}


async def test_the_order_of_variables_is_kept(functions: Functions) -> None:
    env = [{"name": "B", "value": "1"}, {"name": "A", "value": "$(B)"}]
    await create(functions, env=env)
    assert (await get(functions)).manifest["spec"]["env"] == env
    assert (await patch(functions, env=env)).function.generation == 1
    assert (await patch(functions, env=env[::-1])).function.generation == 2


async def test_a_stale_version_conflicts(functions: Functions) -> None:
    made = await create(functions)
    await patch(functions, handler="a:b")
    with pytest.raises(VersionConflict, match="read it again"):
        await functions.patch(
            "team",
            "hello",
            spec={"handler": "c:d"},
            manager=API,
            resource_version=made.function.resource_version,
        )
    assert (await get(functions)).function.spec.handler == "a:b"


async def test_of_twenty_writers_with_one_version_one_wins(functions: Functions) -> None:
    made = await create(functions)
    writes = [
        functions.patch(
            "team",
            "hello",
            spec={"request": f"r{number}"},
            manager=API,
            resource_version=made.function.resource_version,
        )
        for number in range(20)
    ]
    results = await asyncio.gather(*writes, return_exceptions=True)
    assert sum(isinstance(result, VersionConflict) for result in results) == 19
    assert (await get(functions)).function.generation == 2


async def test_twenty_writers_without_a_version_all_write(functions: Functions) -> None:
    await create(functions)
    made = await asyncio.gather(*(patch(functions, request=f"r{n}") for n in range(20)))
    assert sorted(each.function.generation for each in made) == list(range(2, 22))


async def test_status_is_replaced_whole(functions: Functions) -> None:
    made = await create(functions)
    uid = made.function.uid
    await functions.write_status("team", "hello", uid=uid, status={"phase": "Building", "a": "b"})
    await functions.write_status("team", "hello", uid=uid, status={"phase": "Ready"})
    found = await get(functions)
    assert found.manifest["status"] == {"phase": "Ready"}
    assert found.function.resource_version != made.function.resource_version


async def test_status_of_a_function_gone_is_dropped(functions: Functions) -> None:
    await functions.write_status("team", "hello", uid="gone", status={"phase": "Ready"})
    await create(functions)
    await functions.write_status("team", "hello", uid="gone", status={"phase": "Ready"})
    assert (await get(functions)).manifest["status"] == {}


async def test_pages_are_whole_and_in_order(functions: Functions) -> None:
    names = [(space, f"f{number}") for space in ("a", "a-b", "b") for number in range(5)]
    for space, name in reversed(names):
        content = spec(s3Key=f"functions/{space}/{name}/{'a' * 64}-python3.11.zip")
        await functions.create(space, name, spec=content, manager=API)
    found = await all_names(functions, None, limit=4)
    assert sorted(found) == names
    assert [name for space, name in found if space == "a-b"] == [f"f{at}" for at in range(5)]
    assert await all_names(functions, "a", limit=2) == names[:5]
    assert await all_names(functions, "nobody", limit=2) == []
    assert (await functions.list("b", limit=5)).next == ""


async def all_names(
    functions: Functions, namespace: str | None, *, limit: int
) -> list[tuple[str, str]]:
    found, token = [], ""
    while True:
        page = await functions.list(namespace, token=token, limit=limit)
        assert len(page.items) <= limit
        found += [(each.function.namespace, each.function.name) for each in page.items]
        token = page.next
        if not token:
            return found


async def test_a_made_up_page_is_refused(functions: Functions) -> None:
    with pytest.raises(InvalidSetting, match="token"):
        await functions.list(token="rubbish")


REFUSED: list[tuple[Mapping[str, Any], type[Exception], str]] = [
    ({"wurst": "x"}, InvalidSetting, "spec.wurst is no field"),
    ({"handler": 7}, InvalidSetting, "spec.handler must be a string"),
    ({"handler": "main"}, InvalidSetting, "module:attribute"),
    ({"handler": "main:app; rm -rf"}, InvalidSetting, "module:attribute"),
    ({"handler": ""}, InvalidSetting, "module:attribute"),
    ({"handler": "a:b", "command": ["x"]}, InvalidSetting, "exclude each other"),
    ({"command": "python x.py"}, InvalidSetting, "list of strings"),
    ({"command": ["x", 1]}, InvalidSetting, "list of strings"),
    ({"command": [""]}, InvalidSetting, r"command\[0\] is empty"),
    ({"command": ["x\0y"]}, InvalidSetting, "NUL"),
    ({"env": {"A": "1"}}, InvalidSetting, "list of {name, value}"),
    ({"env": [{"name": "A"}]}, InvalidSetting, r"spec.env\[0\]"),
    ({"env": [{"name": "A", "value": "1", "from": "x"}]}, InvalidSetting, r"spec.env\[0\]"),
    ({"env": [{"name": "A", "value": 1}]}, InvalidSetting, "value must be a string"),
    ({"env": [{"name": "A", "value": "1"}] * 2}, InvalidSetting, "names A twice"),
    ({"env": [{"name": "1A", "value": "1"}]}, InvalidSetting, "'1A'"),
    ({"env": [{"name": "A=B", "value": "1"}]}, InvalidSetting, "'A=B'"),
    ({"env": [{"name": "A", "value": "x\0y"}]}, InvalidSetting, "env A contains a NUL"),
    ({"env": [{"name": "A", "value": "\ud800"}]}, InvalidSetting, "no valid Unicode"),
    ({"env": [{"name": "A", "value": "ü" * 20_000}]}, InvalidSetting, "40000 bytes; 32768"),
    ({"env": [{"name": f"A{n}", "value": ""} for n in range(201)]}, InvalidSetting, "201"),
    (
        {"env": [{"name": f"A{n}", "value": "x" * 30_000} for n in range(9)]},
        InvalidSetting,
        "together",
    ),
    ({"env": [{"name": "PORT", "value": "1"}]}, InvalidSetting, "set by the platform"),
    ({"env": [{"name": "SLESS_CODE", "value": "1"}]}, InvalidSetting, "set by the platform"),
    ({"request": "two words"}, InvalidSetting, "spec.request"),
    ({"request": "x" * 129}, InvalidSetting, "spec.request"),
    ({"runtime": "node20"}, InvalidSetting, "only together with spec.s3Key"),
    ({"runtime": "Python"}, InvalidSetting, "'Python' is no runtime"),
    ({"runtime": None}, InvalidSetting, "spec.runtime is missing"),
    ({"s3Key": None}, InvalidSetting, "spec.s3Key is missing"),
    ({"s3Key": key("node20")}, InvalidSetting, "names an upload for node20"),
    ({"s3Key": key(name="other")}, InvalidKey, "must start with functions/team/hello/"),
    ({"s3Key": "functions/team/hello/../x.zip"}, InvalidKey, "is no s3Key"),
]


@pytest.mark.parametrize(("fields", "error", "told"), REFUSED)
async def test_a_wrong_spec_is_refused_and_named(
    functions: Functions, fields: Mapping[str, Any], error: type[Exception], told: str
) -> None:
    before = await create(functions)
    with pytest.raises(error, match=told):
        await patch(functions, **fields)
    assert await get(functions) == before


async def test_a_wrong_spec_makes_no_function(functions: Functions) -> None:
    with pytest.raises(InvalidSetting):
        await create(functions, wurst="x")
    with pytest.raises(InvalidSetting, match="s3Key is missing"):
        await functions.create("team", "hello", spec={}, manager=API)
    assert await functions.find("team", "hello") is None


@pytest.mark.parametrize("name", ["", "Hello", "a_b", "x" * 41, "-a", "a/b", "hello\n"])
async def test_a_wrong_name_makes_no_function(functions: Functions, name: str) -> None:
    with pytest.raises(InvalidName):
        await functions.create("team", name, spec=spec(s3Key=key(name=name)), manager=API)


async def test_a_new_runtime_comes_with_a_new_key(functions: Functions) -> None:
    await create(functions)
    changed = await patch(functions, s3Key=key("node20"), runtime="node20")
    assert changed.function.spec.runtime == "node20"


@pytest.mark.parametrize(
    "annotations",
    [{"no spaces": "x"}, {"": "x"}, {"a/b/c": "x"}, {"x" * 64: "x"}, {"a": "x" * 262_144}],
)
async def test_wrong_annotations_are_refused(
    functions: Functions, annotations: dict[str, str]
) -> None:
    before = await create(functions)
    with pytest.raises(InvalidSetting, match="annotation"):
        await functions.patch("team", "hello", annotations=annotations, manager=API)
    assert await get(functions) == before


VALUES = {
    "handler": st.sampled_from([None, "a:b", "main:app"]),
    "env": st.sampled_from(
        [None, [], [{"name": "A", "value": "1"}], [{"name": "A", "value": "2"}]]
    ),
    "request": st.sampled_from([None, "1", "2"]),
}


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(patches=st.lists(st.fixed_dictionaries({}, optional=VALUES), max_size=6))
async def test_the_generation_counts_the_changes_of_the_spec(
    functions: Functions, patches: list[dict[str, object]]
) -> None:
    expected, changes = spec(), 0
    with contextlib.suppress(FunctionNotFound):
        await functions.delete("team", "hello")  # the example before
    await create(functions)
    for fields in patches:
        changed = merge_patch(expected, fields)
        changes += changed != expected
        expected = changed
        made = await patch(functions, **fields)
        assert made.function.generation == 1 + changes
        assert made.manifest["spec"] == expected


async def test_a_manager_is_recorded_with_its_fields(functions: Functions) -> None:
    await create(functions)
    await functions.patch("team", "hello", spec={"handler": "a:b"}, manager="kubectl")
    made = await functions.patch("team", "hello", annotations={"sless.io/x": "1"}, manager=API)
    owners = parse_owners(made.manifest["metadata"]["managedFields"])
    assert {owner.manager: owner.fields for owner in owners} == {
        API: {
            ("metadata", "annotations", "sless.io/x"),
            ("spec", "runtime"),
            ("spec", "s3Key"),
        },
        "kubectl": {("spec", "handler")},
    }


async def gitops(apply: Apply, *, force: bool = False, **fields: object) -> StoredFunction:
    return await apply(spec=spec(**fields), manager="flux", force=force)


async def test_an_apply_makes_and_remakes(apply: Apply) -> None:
    made = await gitops(apply, handler="a:b")
    assert made.function.generation == 1
    assert await gitops(apply, handler="a:b") == made
    assert (await gitops(apply, handler="c:d")).function.generation == 2


async def test_others_may_not_change_what_is_applied(functions: Functions, apply: Apply) -> None:
    made = await gitops(apply, handler="a:b")
    for change in ({"handler": "c:d"}, {"handler": None}, {"s3Key": key(zip_="b")}):
        with pytest.raises(ManagedElsewhere, match="'flux'"):
            await patch(functions, **change)
    assert await patch(functions, handler="a:b") == made
    assert (await patch(functions, request="again")).function.generation == 2


async def test_who_applies_may_patch_his_own(functions: Functions, apply: Apply) -> None:
    await gitops(apply, handler="a:b")
    made = await functions.patch("team", "hello", spec={"handler": "c:d"}, manager="flux")
    assert made.function.spec.handler == "c:d"


async def test_what_an_apply_lets_go_of_is_removed(functions: Functions, apply: Apply) -> None:
    await gitops(apply, handler="a:b")
    await patch(functions, request="mine")
    made = await gitops(apply)
    assert made.manifest["spec"] == spec(request="mine")
    assert (await patch(functions, handler="c:d")).function.spec.handler == "c:d"


async def test_an_apply_takes_from_others_by_force_alone(
    functions: Functions, apply: Apply
) -> None:
    await create(functions, handler="a:b")
    with pytest.raises(ManagedElsewhere, match=API):
        await gitops(apply, handler="c:d")
    made = await gitops(apply, handler="c:d", force=True)
    assert made.function.spec.handler == "c:d"
    with pytest.raises(ManagedElsewhere, match="flux"):
        await patch(functions, handler="a:b")


async def test_equal_values_are_owned_together(functions: Functions, apply: Apply) -> None:
    await create(functions, handler="a:b")
    await gitops(apply, handler="a:b")
    made = await gitops(apply)
    assert made.function.spec.handler == "a:b"


async def test_labels_and_annotations_are_applied_too(functions: Functions, apply: Apply) -> None:
    made = await apply(spec=spec(), annotations={"a": "1"}, labels={"team": "x"}, manager="flux")
    assert made.manifest["metadata"]["labels"] == {"team": "x"}
    with pytest.raises(ManagedElsewhere, match=r"annotations\.a is managed by 'flux'"):
        await functions.patch("team", "hello", annotations={"a": "2"}, manager=API)
    with pytest.raises(InvalidSetting, match="label"):
        await apply(spec=spec(), labels={"team": "a b"}, manager="flux")
