"""The papers say what is so: tables made from code are fresh, and what they point to is there."""

import re
from pathlib import Path

import click
import pytest

from sless.cli.commands import group
from sless.model.phase import Phase
from sless.reasons_page import render_page

ROOT = Path(__file__).parents[2]
PAPERS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NAMED = [path.relative_to(ROOT).as_posix() for path in PAPERS]

_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
_CODE_PATH = re.compile(r"`((?:sless|api|workflows|activities|tests|scripts)/[\w./]*)")
_BLOCK = re.compile(r"```\n(.*?)```", re.DOTALL)
_COMMAND = re.compile(r"^(?:\.venv/bin/)?sless ([a-z]+)", re.MULTILINE)


def test_the_reasons_are_those_of_the_error_tree() -> None:
    page = (ROOT / "docs" / "concepts.md").read_text()
    assert page == render_page(page), "run scripts/docs"


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="lacks"):
        render_page("# Concepts\n")


def test_every_phase_is_explained() -> None:
    page = (ROOT / "docs" / "concepts.md").read_text()
    assert [phase for phase in Phase if f"| `{phase.value}` |" not in page] == []


@pytest.mark.parametrize("paper", NAMED)
def test_links_lead_somewhere(paper: str) -> None:
    path = ROOT / paper
    links = _LINK.findall(path.read_text())
    assert [link for link in links if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("paper", NAMED)
def test_code_that_is_named_is_there(paper: str) -> None:
    named = _CODE_PATH.findall((ROOT / paper).read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_commands_of_the_readme_are_there() -> None:
    blocks = "\n".join(_BLOCK.findall((ROOT / "README.md").read_text()))
    named = set(_COMMAND.findall(blocks))
    assert named - set(group.list_commands(click.Context(group))) == set()
    assert {"up", "deploy", "invoke", "rollback"} <= named


def test_every_decision_is_short_and_listed() -> None:
    folder = ROOT / "docs" / "adr"
    index = (folder / "README.md").read_text()
    records = sorted(folder.glob("0*.md"))
    assert [record.name for record in records if f"({record.name})" not in index] == []
    assert [record.name for record in records if len(record.read_text().splitlines()) >= 40] == []


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    pages = [path.name for path in (ROOT / "docs").glob("*.md") if path.name != "README.md"]
    assert [page for page in pages if f"({page})" not in index] == []


def test_the_map_fits_on_a_desk() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) < 200
