import pytest
from hypothesis import given
from hypothesis import strategies as st

from sless.cli.node_range import parse_range

MAJORS = (0, 18, 20, 21, 22)


def majors(text: str) -> list[int] | None:
    spans = parse_range(text)
    if spans is None:
        return None
    return [major for major in MAJORS if any(span.holds_some(major) for span in spans)]


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("", [0, 18, 20, 21, 22]),
        ("*", [0, 18, 20, 21, 22]),
        ("20", [20]),
        ("v20.11.1", [20]),
        ("=20.x", [20]),
        ("20.X.x", [20]),
        (">=20", [20, 21, 22]),
        (">= 20.0.0", [20, 21, 22]),
        (">20", [21, 22]),
        (">20.1", [20, 21, 22]),
        (">20.1.1", [20, 21, 22]),
        ("<20", [0, 18]),
        ("<20.0.1", [0, 18, 20]),
        ("<=20", [0, 18, 20]),
        ("<=20.0.0", [0, 18, 20]),
        ("^20.9", [20]),
        ("^0.2.3", [0]),
        ("^0", [0]),
        ("~20", [20]),
        ("~>20.1.2", [20]),
        (">=18 <21", [18, 20]),
        (">=18  <=20.x ", [18, 20]),
        ("18 || ^20.1 || >=22", [18, 20, 22]),
        ("18 - 20", [18, 20]),
        ("18.1.0 - 21.0", [18, 20, 21]),
        (">=18.0.0-rc.1+build <20", [18]),
        (">22 <20", []),
        ("<*", []),
    ],
)
def test_which_major_versions_a_range_takes(text: str, taken: list[int]) -> None:
    assert majors(text) == taken


@pytest.mark.parametrize(
    "text", ["lts/*", "latest", ">=18, <20", "18.1.2.3", "20 ||| 22", ">=", "20<22", "x20", "1e3"]
)
def test_what_is_no_range_is_none(text: str) -> None:
    assert parse_range(text) is None


@given(st.text(alphabet="0129.xX*<>=^~|- v", max_size=20))
def test_any_text_is_read(text: str) -> None:
    majors(text)


@given(st.sampled_from(["", "^", "~", "="]), st.sampled_from([18, 20, 21, 22]), st.integers(0, 30))
def test_a_version_takes_its_own_major_alone(sign: str, major: int, minor: int) -> None:
    assert majors(f"{sign}{major}.{minor}.0") == [major]
