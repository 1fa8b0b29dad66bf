"""The custom resource refuses what `sless.manifests` refuses, and takes what it takes."""

import copy
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.connection import Object
from sless.adapters.kubernetes.resources import FUNCTIONS
from sless.errors import InvalidKey, InvalidSetting, UserFault
from sless.manifests import check_spec, merge_patch
from tests.cluster.spaces import MANAGER, ensure_spaces
from tests.contract.test_functions import REFUSED, key, spec

SENDABLE = [case for case in REFUSED if "\\ud800" not in ascii(case)]
"""A lone surrogate is no text that could be sent."""

ACCEPTED: list[Mapping[str, Any]] = [
    {},
    {"handler": "a-b/c.d:E.f"},
    {"handler": "_m:$x.y"},
    {"command": [], "handler": "a:b"},
    {"command": ["./run", "", "ü\n"]},
    {"env": []},
    {"env": [{"name": "A.b-c", "value": ""}, {"name": "PORTS", "value": "$(A.b-c)\n"}]},
    {"env": [{"name": "A", "value": "x" * 32_768}]},
    {"env": [{"name": f"A{n}", "value": ""} for n in range(200)]},
    {"command": ["x"] * 100},
    {"request": "!~"},
    {"s3Key": key().replace(".zip", "-r2.zip")},
    {"s3Key": key("node20"), "runtime": "node20"},
]


@pytest.fixture(autouse=True)
async def space(server: ApiServer) -> None:
    await ensure_spaces(server, ["team"])


async def create(server: ApiServer, wanted: Object, *, name: str = "hello") -> Object:
    body = {"metadata": {"name": name}, "spec": wanted}
    return await server.create(FUNCTIONS, "team", body, manager=MANAGER)


@pytest.mark.parametrize("fields", ACCEPTED, ids=lambda fields: str(fields)[:40])
async def test_it_takes_what_is_right(server: ApiServer, fields: Mapping[str, Any]) -> None:
    wanted = spec(**fields)
    check_spec(wanted, namespace="team", name="hello")
    assert (await create(server, wanted))["spec"] == wanted


@pytest.mark.parametrize(("fields", "error", "told"), SENDABLE)
async def test_it_refuses_what_is_wrong(
    server: ApiServer, fields: Mapping[str, Any], error: type[Exception], told: str
) -> None:
    del told  # its own sentences are others
    await create(server, spec())
    with pytest.raises((InvalidSetting, InvalidKey)) as refused:
        await server.patch(FUNCTIONS, "team", "hello", {"spec": dict(fields)}, manager=MANAGER)
    if error is InvalidKey:
        assert refused.type is InvalidKey
    with pytest.raises((InvalidSetting, InvalidKey)):
        await create(server, merge_patch(spec(), fields), name="another")


@pytest.mark.parametrize("name", ["x" * 41, "a.b"])
async def test_it_refuses_names_that_would_not_fit(server: ApiServer, name: str) -> None:
    with pytest.raises(InvalidSetting, match="1 to 40 lower-case letters"):
        await create(server, spec(s3Key=key(name=name)), name=name)


async def test_its_sentences_name_the_thing(server: ApiServer) -> None:
    await create(server, spec())
    for fields, told in (
        ({"runtime": "node20"}, "runtime may change only together with s3Key"),
        ({"s3Key": key("node20")}, "runtime is python3.11, but s3Key names an upload for another"),
        ({"env": [{"name": "SLESS_X", "value": ""}]}, "SLESS_X is set by the platform"),
        ({"env": [{"name": "A", "value": ""}] * 2}, "names in env must be unique"),
        ({"handler": "a:b", "command": ["x"]}, "exclude each other"),
        ({"s3Key": key(name="other")}, "spec.s3Key must start with functions/team/hello/"),
    ):
        with pytest.raises(UserFault, match=told):
            await server.patch(FUNCTIONS, "team", "hello", {"spec": fields}, manager=MANAGER)


async def test_status_has_no_say_over_the_spec(server: ApiServer) -> None:
    await create(server, spec())
    body = {"spec": {"handler": "a:b"}, "status": {"phase": "Ready"}}
    await server.patch(FUNCTIONS, "team", "hello", body, manager=MANAGER, subresource="status")
    await server.patch(FUNCTIONS, "team", "hello", {"status": {"phase": "x"}}, manager=MANAGER)
    found = await server.find(FUNCTIONS, "team", "hello")
    assert found is not None
    assert (found["spec"], found["status"]) == (spec(), {"phase": "Ready"})


NAMES = st.one_of(st.sampled_from(["A", "PORT", "SLESS_A", "a.b"]), st.text(max_size=4))
TEXTS = st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=6))
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "handler": st.one_of(st.from_regex(r"[\w.:$/-]{1,8}"), TEXTS),
        "command": st.lists(TEXTS, max_size=3),
        "env": st.lists(st.fixed_dictionaries({"name": NAMES, "value": TEXTS}), max_size=3),
        "request": TEXTS,
        "runtime": st.sampled_from(["python3.11", "node20", "python3", "python3x11"]),
        "s3Key": st.sampled_from([key(), key("node20"), key("python3") + ".zip", "x"]),
    },
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(fields=SPECS)
async def test_both_are_of_one_mind(server: ApiServer, fields: Mapping[str, Any]) -> None:
    wanted = copy.deepcopy(spec(**fields))
    assert await is_taken(server, wanted) == is_right(wanted)


def is_right(wanted: Object) -> bool:
    try:
        check_spec(wanted, namespace="team", name="hello")
    except UserFault:
        return False
    return True


async def is_taken(server: ApiServer, wanted: Object) -> bool:
    try:
        await create(server, wanted)
    except UserFault:
        return False
    await server.delete(FUNCTIONS, "team", "hello")
    return True
