"""Which versions a function's own files ask for."""

import json

import pytest

from sless.cli.demand import Demand, find_demand
from sless.dependencies import Language

PYTHONS = ((3, 10), (3, 11), (3, 12), (3, 13))
NODES = ((18,), (20,), (22,))


def demand_in(language: Language, files: dict[str, str]) -> Demand | None:
    return find_demand(language, files.get)


def pythons(text: str) -> list[int] | None:
    demand = demand_in(Language.PYTHON, {"pyproject.toml": _project(text)})
    assert demand is not None
    assert (demand.file, demand.text) == ("pyproject.toml", text)
    return None if demand.takes is None else [v[1] for v in PYTHONS if demand.takes(v)]


def _project(requires: str) -> str:
    return f"[project]\nname = 'f'\nrequires-python = {json.dumps(requires)}\n"


@pytest.mark.parametrize(
    ("text", "minors"),
    [
        (">=3.11", [11, 12, 13]),
        (">=3.11,<3.13", [11, 12]),
        ("~=3.11", [11, 12, 13]),
        ("==3.12.*", [12]),
        ("==3.12", [12]),
        ("==3.12.4", [12]),
        (">=3.12.4", [12, 13]),
        (">3.12", [12, 13]),
        ("<3.12", [10, 11]),
        ("<=3.12", [10, 11, 12]),
        ("!=3.12.*", [10, 11, 13]),
        ("!=3.12.0", [10, 11, 12, 13]),
        ("", [10, 11, 12, 13]),
        (">=4", []),
        ("^3.11", None),
        ("three", None),
    ],
)
def test_requires_python(text: str, minors: list[int] | None) -> None:
    assert pythons(text) == minors


@pytest.mark.parametrize(
    ("content", "text", "minors"),
    [
        ("3.12\n", "3.12", [12]),
        ("3.12.4", "3.12.4", [12]),
        ("# ours\n\n  3.11  # old\n3.13\n", "3.11", [11]),
        ("3", "3", [10, 11, 12, 13]),
        ("cpython-3.12", "cpython-3.12", [12]),
        ("python3.12", "python3.12", [12]),
        ("2.7", "2.7", []),
        ("pypy3.10", "pypy3.10", None),
        ("3.13t", "3.13t", None),
        ("my-environment", "my-environment", None),
    ],
)
def test_a_pinned_python(content: str, text: str, minors: list[int] | None) -> None:
    files = {".python-version": content, "pyproject.toml": _project(">=3.10")}
    demand = demand_in(Language.PYTHON, files)
    assert demand is not None
    assert (demand.file, demand.text) == (".python-version", text)
    taken = None if demand.takes is None else [v[1] for v in PYTHONS if demand.takes(v)]
    assert taken == minors


@pytest.mark.parametrize(
    ("files", "file", "majors"),
    [
        ({".nvmrc": "v20.11.1\n"}, ".nvmrc", [20]),
        ({".nvmrc": "22"}, ".nvmrc", [22]),
        ({".nvmrc": "lts/iron"}, ".nvmrc", None),
        ({"package.json": '{"engines": {"node": ">=20"}}'}, "package.json", [20, 22]),
        ({"package.json": '{"engines": {"node": "latest"}}'}, "package.json", None),
        ({".nvmrc": "18", "package.json": '{"engines": {"node": ">=20"}}'}, ".nvmrc", [18]),
    ],
)
def test_node(files: dict[str, str], file: str, majors: list[int] | None) -> None:
    demand = demand_in(Language.NODE, files)
    assert demand is not None
    assert demand.file == file
    taken = None if demand.takes is None else [v[0] for v in NODES if demand.takes(v)]
    assert taken == majors


@pytest.mark.parametrize(
    ("language", "files"),
    [
        (Language.PYTHON, {}),
        (Language.PYTHON, {".python-version": "# none\n"}),
        (Language.PYTHON, {"pyproject.toml": "[project]\nname = 'f'\n"}),
        (Language.PYTHON, {"pyproject.toml": "project = 3"}),
        (Language.PYTHON, {"pyproject.toml": "[project]\nrequires-python = 3"}),
        (Language.PYTHON, {"pyproject.toml": "[[["}),
        (Language.PYTHON, {".nvmrc": "20"}),
        (Language.NODE, {".python-version": "3.11"}),
        (Language.NODE, {"package.json": "{}"}),
        (Language.NODE, {"package.json": "[]"}),
        (Language.NODE, {"package.json": '{"engines": ["node"]}'}),
        (Language.NODE, {"package.json": '{"engines": {"node": 20}}'}),
        (Language.NODE, {"package.json": "{"}),
    ],
)
def test_files_that_ask_for_nothing(language: Language, files: dict[str, str]) -> None:
    assert demand_in(language, files) is None
