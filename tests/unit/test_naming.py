"""Identifiers: what they look like, and that none can be mistaken for another."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sless import naming
from sless.errors import InvalidKey, InvalidName
from sless.naming import S3Key, parse_own_key, parse_s3_key

LABEL = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", fullmatch=True)
SHA = st.from_regex(r"[0-9a-f]{64}", fullmatch=True)
RUNTIME = st.sampled_from(["python3.11", "node20", "python3.13"])
KEYS = st.builds(
    S3Key,
    namespace=LABEL,
    name=LABEL,
    sha256=SHA,
    runtime=RUNTIME,
    rebuild=st.integers(0, 999_999_999),
)
NONCE = st.from_regex(r"[0-9a-f]{12}", fullmatch=True)
KUBERNETES_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


@given(KEYS)
def test_a_key_survives_its_text(key: S3Key) -> None:
    assert parse_s3_key(str(key)) == key
    assert parse_own_key(str(key), namespace=key.namespace, name=key.name) == key


@given(KEYS, KEYS)
def test_different_keys_are_different_builds(one: S3Key, other: S3Key) -> None:
    same = naming.build_id(str(one)) == naming.build_id(str(other))
    assert same == (one == other)
    assert naming.check_build_id(naming.build_id(str(one)))


@given(LABEL, LABEL, LABEL, LABEL)
def test_no_two_functions_share_an_image(a: str, b: str, c: str, d: str) -> None:
    for repository in (naming.image_repository, naming.flat_image_repository):
        assert (repository("r", a, b) == repository("r", c, d)) == ((a, b) == (c, d))


def test_the_classic_collision_of_flat_names() -> None:
    assert naming.flat_image_repository("o", "a", "b-c") == "o/sless-a_b-c"
    assert naming.flat_image_repository("o", "a-b", "c") == "o/sless-a-b_c"


@given(LABEL, NONCE)
def test_a_job_has_a_name_that_kubernetes_takes(name: str, nonce: str) -> None:
    job = naming.job_name(name, "d431de61e2c9", nonce)
    assert KUBERNETES_NAME.fullmatch(job)
    assert job.endswith(f"-d431de61e2c9-{nonce}")


@given(LABEL)
def test_a_service_has_a_name_that_kubernetes_takes(name: str) -> None:
    assert naming.resource_name(name) == f"fn-{name}"
    assert KUBERNETES_NAME.fullmatch(naming.resource_name(name))


@given(st.text("ab-", min_size=62, max_size=90), st.text("ab-", min_size=62, max_size=90))
def test_long_names_are_cut_apart(one: str, other: str) -> None:
    cut = naming.resource_name(one)
    assert len(cut) <= naming.RESOURCE_MAX
    assert (cut == naming.resource_name(other)) == (one == other)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-a",
        "a-",
        "A",
        "a_b",
        "a.b",
        "a/b",
        "..",
        "a" * 41,
        "ä",
        "a\n",
        "x.kube-system.svc",
        "@evil",
        "a b",
        "٣",
    ],
)
def test_refused_names(name: str) -> None:
    with pytest.raises(InvalidName):
        naming.check_name(name)


def test_a_refusal_names_the_name_and_the_cure() -> None:
    with pytest.raises(InvalidName, match="'Hello' cannot be a function name: use 1 to 40"):
        naming.check_name("Hello")


GOOD = str(S3Key("team", "hello", "a" * 64, "python3.11"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        GOOD.removesuffix(".zip"),
        f"/{GOOD}",
        f"{GOOD}\n",
        GOOD.replace("functions/", "functions//"),
        GOOD.replace("team/hello", "team/../other/hello"),
        GOOD.replace("hello", "Hello"),
        GOOD.replace("hello", "h" * 41),
        GOOD.replace("a" * 64, "A" * 64),
        GOOD.replace("a" * 64, "a" * 63),
        GOOD.replace(".zip", "-r0.zip"),
        GOOD.replace(".zip", "-r01.zip"),
        GOOD.replace("python3.11", "python"),
        GOOD.replace("python3.11", "3.11"),
        f"functions/{GOOD}",
    ],
)
def test_refused_keys(text: str) -> None:
    with pytest.raises(InvalidKey):
        parse_s3_key(text)


def test_a_key_of_another_function_is_refused() -> None:
    with pytest.raises(InvalidKey, match="must start with functions/team/other/"):
        parse_own_key(GOOD, namespace="team", name="other")


def test_log_chunks_sort_by_offset() -> None:
    prefix = naming.log_prefix("n", "f", "d431de61e2c9")
    keys = [
        naming.log_chunk_key(prefix, nonce="6a", container="build", start=start)
        for start in (0, 9, 10, 262_144, 10_000_000)
    ]
    assert keys == sorted(keys)


def test_workflow_ids() -> None:
    assert naming.function_workflow_id("n", "f") == "function/n/f"
    assert naming.build_workflow_id("n", "f", "d431de61e2c9") == "build/n/f/d431de61e2c9"


def test_outcomes_of_two_lives_of_a_name_lie_apart() -> None:
    assert naming.outcome_key("n", "f", "u1", 12) == "outcomes/n/f/u1/12.json"
    assert naming.repair_key("n", "f", "u1", 12) == "outcomes/n/f/u1/12.repair.json"
