"""How a Python function declares its dependencies."""

from collections.abc import Mapping
from typing import Any

from sless.dependencies.model import (
    NO_DEPENDENCIES,
    Dependencies,
    DependencyKind,
    make_dependencies,
)
from sless.dependencies.requirements import check_requirement, check_url, collect_requirements
from sless.dependencies.text import parse_toml, read_text, table
from sless.errors import DependencyFileInvalid, DependencyUnsupported

PYLOCK = "pylock.toml"
UV_LOCK = "uv.lock"
REQUIREMENTS = "requirements.txt"
PYPROJECT = "pyproject.toml"

_EXCLUSIVE = (PYLOCK, UV_LOCK, REQUIREMENTS)
"""Each says all that is to be installed; the first that is there wins."""

_FOREIGN = {
    "poetry.lock": "poetry export -f requirements.txt -o requirements.txt",
    "Pipfile.lock": "pipenv requirements > requirements.txt",
    "Pipfile": "pipenv requirements > requirements.txt",
    "pdm.lock": "pdm export -o requirements.txt",
    "environment.yml": "pip freeze > requirements.txt",
    "conda.yml": "pip freeze > requirements.txt",
}
"""What we do not read, and the command that writes what we do."""

_UNFETCHABLE = ("git", "vcs", "path", "directory", "editable", "virtual", "workspace")
"""Sources of a package that are no index and no URL."""


def find_python_dependencies(files: Mapping[str, bytes]) -> Dependencies:
    """What to install; raises `DependencyFileInvalid` or `DependencyUnsupported`."""
    present = [path for path in _EXCLUSIVE if path in files]
    warnings = tuple(
        f"{present[0]} decides what is installed; {path} is left aside." for path in present[1:]
    )
    match present[:1]:
        case ["pylock.toml"]:
            return _read_pylock(files, warnings)
        case ["uv.lock"]:
            return _read_uv_lock(files, warnings)
        case ["requirements.txt"]:
            return _read_requirements(files)
        case _:
            return _read_pyproject(files) if PYPROJECT in files else _find_none(files)


def _read_requirements(files: Mapping[str, bytes]) -> Dependencies:
    texts, count = collect_requirements(files, REQUIREMENTS)
    return make_dependencies(DependencyKind.REQUIREMENTS, texts) if count else NO_DEPENDENCIES


def _read_pylock(files: Mapping[str, bytes], warnings: tuple[str, ...]) -> Dependencies:
    text = read_text(files, PYLOCK)
    content = parse_toml(text, PYLOCK)
    if not str(content.get("lock-version", "")).startswith("1."):
        raise DependencyUnsupported(f"{PYLOCK} must have lock-version 1.x; lock again.")
    for package in _packages(content, "packages", PYLOCK):
        _check_source(package, package, path=PYLOCK)
        _check_source(package, table(package, "archive"), path=PYLOCK)
    return make_dependencies(DependencyKind.PYLOCK, {PYLOCK: text}, warnings=warnings)


def _read_uv_lock(files: Mapping[str, bytes], warnings: tuple[str, ...]) -> Dependencies:
    if PYPROJECT not in files:
        raise DependencyFileInvalid(
            f"{UV_LOCK} needs the {PYPROJECT} it was made from; add it to the function's folder."
        )
    texts = {path: read_text(files, path) for path in (UV_LOCK, PYPROJECT)}
    parse_toml(texts[PYPROJECT], PYPROJECT)
    for package in _packages(parse_toml(texts[UV_LOCK], UV_LOCK), "package", UV_LOCK):
        source = table(package, "source")
        # The function itself is not installed: its folder is importable as it is.
        if "." not in {source.get("editable"), source.get("virtual")}:
            _check_source(package, source, path=UV_LOCK)
    return make_dependencies(DependencyKind.UV_LOCK, texts, warnings=warnings)


def _packages(content: Mapping[str, Any], key: str, path: str) -> list[Mapping[str, Any]]:
    packages = content.get(key, [])
    if not isinstance(packages, list) or not all(isinstance(one, dict) for one in packages):
        raise DependencyFileInvalid(f"{path}: '{key}' must be a list of tables; lock again.")
    return packages


def _check_source(package: Mapping[str, Any], source: Mapping[str, Any], *, path: str) -> None:
    where = f"{path}, package {package.get('name', '?')!r}"
    for kind in _UNFETCHABLE:
        if kind in source:
            raise DependencyUnsupported(
                f"{where} comes from a {kind} source, which builds cannot fetch; use a release "
                "from an index."
            )
    for key in ("registry", "url", "index"):
        if isinstance(source.get(key), str):
            check_url(source[key], where=where)


def _read_pyproject(files: Mapping[str, bytes]) -> Dependencies:
    text = read_text(files, PYPROJECT)
    content = parse_toml(text, PYPROJECT)
    project = table(content, "project")
    if "dependencies" in project.get("dynamic", ()):
        raise DependencyUnsupported(
            f"{PYPROJECT} makes its dependencies dynamic; list them under [project] or in "
            f"{REQUIREMENTS}."
        )
    if "dependencies" not in project and table(content, "tool", "poetry", "dependencies"):
        raise _foreign("[tool.poetry.dependencies]", _FOREIGN["poetry.lock"])
    declared = project.get("dependencies", [])
    if not declared:
        return _find_none(files)
    _check_declared(declared)
    _check_uv_sources(content)
    return make_dependencies(DependencyKind.PYPROJECT, {PYPROJECT: text})


def _check_declared(declared: object) -> None:
    if not isinstance(declared, list) or not all(isinstance(one, str) for one in declared):
        raise DependencyFileInvalid(f"{PYPROJECT}: dependencies must be a list of strings.")
    for requirement in declared:
        check_requirement(requirement, where=f"{PYPROJECT}, dependencies")


def _check_uv_sources(content: Mapping[str, Any]) -> None:
    for name, source in table(content, "tool", "uv", "sources").items():
        for one in source if isinstance(source, list) else [source]:
            _check_source({"name": name}, one if isinstance(one, dict) else {}, path=PYPROJECT)


def _find_none(files: Mapping[str, bytes]) -> Dependencies:
    for path, command in _FOREIGN.items():
        if path in files:
            raise _foreign(path, command)
    if "setup.py" in files or "setup.cfg" in files:
        return Dependencies(
            warnings=(f"setup.py is not read; name what the function needs in {REQUIREMENTS}.",)
        )
    return NO_DEPENDENCIES


def _foreign(path: str, command: str) -> DependencyUnsupported:
    return DependencyUnsupported(f"{path} is not supported; run '{command}' and deploy again.")
