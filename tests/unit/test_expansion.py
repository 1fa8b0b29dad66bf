"""`$(NAME)` in environment variables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sless.local.runner.expansion import expand, expand_all
from sless.model.function import EnvVar

KNOWN = {"A": "1", "B_C": "$(A)", "d.e-f": "x"}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("", ""),
        ("plain", "plain"),
        ("$(A)", "1"),
        ("a $(A) b $(A)", "a 1 b 1"),
        ("$(B_C)", "$(A)"),  # a value is not expanded again
        ("$(d.e-f)", "x"),
        ("$(NONE)", "$(NONE)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$$$$(A)", "$$(A)"),
        ("$A ${A}", "$A ${A}"),
        ("cost: 5$", "cost: 5$"),
        ("$$", "$"),
        ("$(A", "$(A"),
        ("$($(A)", "$($(A)"),
        ("$()", "$()"),
    ],
)
def test_expands_as_kubernetes_does(text: str, meant: str) -> None:
    assert expand(text, KNOWN) == meant


def test_refers_back_only() -> None:
    variables = (EnvVar("A", "$(B)"), EnvVar("B", "2"), EnvVar("C", "$(A) $(B)"))
    assert expand_all(variables) == {"A": "$(B)", "B": "2", "C": "$(B) 2"}


@given(st.text(alphabet="a$()A", max_size=20))
def test_escaping_every_dollar_says_the_text_itself(text: str) -> None:
    assert expand(text.replace("$", "$$"), KNOWN) == text


@given(st.text(max_size=50))
def test_never_fails(text: str) -> None:
    expand(text, KNOWN)
