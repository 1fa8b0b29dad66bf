"""Which runtime a function gets that nobody named one for."""

import pytest

from sless.cli.demand import Demand
from sless.cli.exits import Exit, Stop
from sless.cli.runtime_choice import Known, Offer, choose, describe_change, language_of
from sless.dependencies import Language

PYTHON, NODE = Language.PYTHON, Language.NODE
OFFERS = [
    Offer("node20"),
    *(Offer(f"python3.{minor}") for minor in (9, 11, 12)),
    Offer("python3.13", missing=True),
]
OLD = Demand(".python-version", "3.11", lambda version: version == (3, 11))
NEWER = Demand("pyproject.toml", ">=3.12", lambda version: version >= (3, 12))
NONE = Demand("pyproject.toml", ">=3.99", lambda _: False)
UNREAD = Demand(".nvmrc", "lts/iron", None)


@pytest.mark.parametrize(
    ("known", "chosen"),
    [
        (Known(PYTHON), "python3.12"),
        (Known(NODE), "node20"),
        (Known(NODE, demand=UNREAD), "node20"),
        (Known(PYTHON, demand=OLD), "python3.11"),
        (Known(PYTHON, demand=NEWER), "python3.12"),
        (Known(PYTHON, "python3.9"), "python3.9"),
        (Known(PYTHON, "python3.13"), "python3.13"),
        (Known(PYTHON, "python3.11", OLD), "python3.11"),
        (Known(PYTHON, "python3.11", NEWER), "python3.12"),
        (Known(PYTHON, "python3.12", OLD), "python3.11"),
        (Known(PYTHON, "python3.8"), "python3.12"),
    ],
)
def test_the_present_one_or_the_newest_that_fits(known: Known, chosen: str) -> None:
    assert choose(OFFERS, known) == chosen
    assert choose(OFFERS[::-1], known) == chosen


def test_of_runtimes_that_are_all_missing_the_newest_has_the_server_tell_the_cure() -> None:
    offers = [
        Offer("python3.11"),
        Offer("python3.12", missing=True),
        Offer("python3.13", missing=True),
    ]
    assert choose(offers, Known(PYTHON, demand=NEWER)) == "python3.13"


@pytest.mark.parametrize("present", ["", "python3.11"])
def test_a_demand_that_nothing_meets_names_file_and_offers(present: str) -> None:
    with pytest.raises(Stop) as stopped:
        choose(OFFERS, Known(PYTHON, present, NONE))
    assert stopped.value.code is Exit.USAGE
    assert stopped.value.sentence == (
        "pyproject.toml asks for Python >=3.99, and the server offers python3.9, python3.11, "
        "python3.12, python3.13: change the file, or choose one of these by --runtime."
    )


@pytest.mark.parametrize("demand", [None, OLD])
def test_a_language_that_is_not_offered_is_named(demand: Demand | None) -> None:
    with pytest.raises(Stop) as stopped:
        choose([Offer("node20"), Offer("ruby3.3")], Known(PYTHON, demand=demand))
    assert stopped.value.sentence == (
        "The server offers no runtime for Python, which this needs: choose one of its own by "
        "--runtime (node20, ruby3.3)."
    )


def test_a_change_says_why() -> None:
    assert describe_change("python3.12", Known(PYTHON)) == ""
    assert describe_change("python3.12", Known(PYTHON, "python3.12", NEWER)) == ""
    assert describe_change("python3.12", Known(PYTHON, "python3.11", NEWER)) == (
        "The runtime changes from python3.11 to python3.12, since pyproject.toml asks for Python "
        ">=3.12."
    )
    gone = "since the server does not offer python3.8 any more."
    assert describe_change("python3.12", Known(PYTHON, "python3.8", UNREAD)).endswith(gone)


def test_only_languages_whose_versions_compare_are_known() -> None:
    names = ["python3.11", "node20", "ruby3.3", "pythonic3", "python3.11.2", "python", ""]
    assert [language_of(name) for name in names] == [PYTHON, NODE, *[None] * 5]
