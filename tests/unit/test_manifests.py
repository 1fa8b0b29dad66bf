"""Merge patches by RFC 7386, manifests to values and back, and managed fields."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sless.errors import InvalidSetting
from sless.manifests import merge_patch, parse_function, parse_spec, render_spec
from sless.manifests.ownership import (
    Operation,
    Owner,
    owners_after_apply,
    parse_owners,
    render_owners,
)
from sless.model.function import EnvVar, FunctionSpec

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
SPECS = st.builds(
    FunctionSpec,
    s3_key=st.text(),
    runtime=st.text(),
    handler=st.none() | st.text(),
    command=st.lists(st.text()).map(tuple),
    env=st.lists(st.builds(EnvVar, st.text(), st.text())).map(tuple),
    request=st.none() | st.text(),
)
METADATA = {
    "namespace": "team",
    "name": "hello",
    "uid": "u",
    "generation": 1,
    "resourceVersion": "1",
}
SPEC = {"s3Key": "key", "runtime": "python3.11"}
FIELDS = st.tuples(st.just("spec"), st.text(min_size=1)) | st.tuples(
    st.just("metadata"), st.sampled_from(["labels", "annotations"]), st.text(min_size=1)
)


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_the_table_of_the_rfc(target: Any, patch: Any, result: Any) -> None:
    assert merge_patch(target, patch) == result


@given(target=JSON, patch=JSON)
def test_a_patch_again_changes_nothing_more(target: Any, patch: Any) -> None:
    once = merge_patch(target, patch)
    assert merge_patch(once, patch) == once


@given(target=JSON, patch=JSON)
def test_neither_side_is_touched(target: Any, patch: Any) -> None:
    before = repr((target, patch))
    merge_patch(target, patch)
    assert repr((target, patch)) == before


@given(spec=SPECS)
def test_a_spec_goes_and_comes(spec: FunctionSpec) -> None:
    assert parse_spec(render_spec(spec)) == spec


@pytest.mark.parametrize(
    ("manifest", "told"),
    [
        ({}, "metadata must be an object"),
        ({"metadata": []}, "metadata must be an object"),
        ({"metadata": {}}, "metadata.generation"),
        ({"metadata": {"generation": True}}, "metadata.generation"),
        ({"metadata": {"generation": 1}}, "metadata.namespace is missing"),
        ({"metadata": METADATA | {"uid": 7}}, "metadata.uid must be a string"),
        ({"metadata": METADATA | {"annotations": {"a": 1}}, "spec": SPEC}, "annotations.a must"),
        ({"metadata": METADATA}, "spec must be an object"),
        ({"metadata": METADATA, "spec": {"runtime": "x"}}, "spec.s3Key is missing"),
        ({"metadata": METADATA, "spec": SPEC | {"env": [[]]}}, r"spec.env[0]"),
    ],
)
def test_a_manifest_without_its_shape_is_told(manifest: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidSetting, match=re.escape(told)):
        parse_function(manifest)


@given(
    owners=st.lists(
        st.builds(
            Owner,
            manager=st.text(),
            operation=st.sampled_from(Operation),
            fields=st.frozensets(FIELDS, min_size=1, max_size=4),
            time=st.text(),
        ),
        max_size=3,
    ).map(tuple)
)
def test_owners_go_and_come(owners: tuple[Owner, ...]) -> None:
    assert parse_owners(render_owners(owners)) == owners


def test_the_same_applied_later_leaves_no_trace() -> None:
    named = frozenset({("spec", "handler")})
    owners = (Owner("flux", Operation.APPLY, named, "at first"),)
    again = owners_after_apply(
        owners, manager="flux", named=named, changed=frozenset(), time="later"
    )
    assert again == owners
