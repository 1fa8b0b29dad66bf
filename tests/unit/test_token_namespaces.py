"""Which namespaces a claim is good for, by tables and by properties."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sless.tokens.identity import EVERY_NAMESPACE
from sless.tokens.namespaces import NamespaceClaim

NAMESPACES = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True)
AFFIXES = st.text(st.characters(exclude_characters="{}"), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
GROUPS = NamespaceClaim(path=("groups",), template="team-{namespace}")


@pytest.mark.parametrize(
    ("claim", "claims", "namespaces"),
    [
        (GROUPS, {"groups": ["team-a", "team-b", "team-a"]}, ("a", "b")),
        (GROUPS, {"groups": ["TEAM-a", "team-", "team-A", "a", "xteam-a", "team-a\n"]}, ()),
        (
            GROUPS,
            {"groups": ["team-a b", "team-../x", "team-é", "team-*", 7, None, ["team-a"]]},
            (),
        ),
        (GROUPS, {"groups": "team-a"}, ("a",)),
        (GROUPS, {"groups": "team-a team-b"}, ()),
        (GROUPS, {"groups": {"team-a": True}}, ()),
        (GROUPS, {"groups": None}, ()),
        (GROUPS, {}, ()),
        (NamespaceClaim(path=("namespaces",)), {"namespaces": ["a", "*"]}, ("a",)),
        (NamespaceClaim(path=("namespaces",), every="*"), {"namespaces": ["a", "*"]}, ("*",)),
        (NamespaceClaim(path=("n",), every="admins"), {"n": ["admins"]}, ("*",)),
        (NamespaceClaim(path=("n",), template="t-{namespace}", every="*"), {"n": ["t-*"]}, ()),
        (NamespaceClaim(path=("scope",), spaced=True), {"scope": "a  b"}, ("a", "b")),
        (NamespaceClaim(path=("scope",), spaced=True), {"scope": ["a b"]}, ()),
        (NamespaceClaim(path=("realm", "roles")), {"realm": {"roles": ["a"]}}, ("a",)),
        (NamespaceClaim(path=("realm", "roles")), {"realm": ["roles"]}, ()),
        (NamespaceClaim(path=("realm.roles",)), {"realm": {"roles": ["a"]}}, ()),
        (NamespaceClaim(path=("https://x/n",)), {"https://x/n": ["a"]}, ("a",)),
        (NamespaceClaim(path=("r",), template="org/{namespace}"), {"r": "org/a"}, ("a",)),
        (NamespaceClaim(path=("r",), template="ab{namespace}ba"), {"r": ["aba", "abba"]}, ()),
    ],
)
def test_a_mapping_gives(
    claim: NamespaceClaim, claims: dict[str, Any], namespaces: tuple[str, ...]
) -> None:
    assert claim.namespaces_of(claims) == namespaces


@given(before=AFFIXES, after=AFFIXES, wanted=st.sets(NAMESPACES, max_size=5))
def test_what_fits_the_template_is_found_again(before: str, after: str, wanted: set[str]) -> None:
    claim = NamespaceClaim(path=("n",), template=f"{before}{{namespace}}{after}")
    claims = {"n": [f"{before}{namespace}{after}" for namespace in wanted]}
    assert claim.namespaces_of(claims) == tuple(sorted(wanted))


@given(value=JSON, spaced=st.booleans(), before=AFFIXES)
def test_no_claim_raises_or_is_good_for_every_namespace(
    value: Any, *, spaced: bool, before: str
) -> None:
    claim = NamespaceClaim(path=("n",), template=f"{before}{{namespace}}", spaced=spaced)
    found = claim.namespaces_of({"n": value})
    assert EVERY_NAMESPACE not in found
    assert all(before + namespace in str(value) for namespace in found)


@given(claims=JSON.filter(lambda value: isinstance(value, dict)), path=st.lists(st.text()))
def test_no_way_through_claims_raises(claims: dict[str, Any], path: list[str]) -> None:
    NamespaceClaim(path=tuple(path)).namespaces_of(claims)
