"""Which versions of its language a function's own files ask for: pure."""

import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass

from sless.cli.node_range import parse_range
from sless.cli.shapes import dig
from sless.dependencies import Language

Version = tuple[int, ...]
"""As in a runtime's name: `(3, 12)`, `(20,)`."""
Read = Callable[[str], str | None]
"""The text of a file at the top of a folder, or none."""

_PATCHES = 100
"""More patch releases than any minor version of Python has seen."""
_PIN = re.compile(r"(?:(?:c?python|node)[-@]?)?v?([0-9]{1,6}(?:\.[0-9]{1,6}){0,2})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Demand:
    """What a file asks for."""

    file: str
    text: str
    """As the file says it."""
    takes: Callable[[Version], bool] | None
    """Whether some release of that version will do; none where the text names no versions."""


def find_demand(language: Language, read: Read) -> Demand | None:
    """What the files ask for; a pinned version goes before a range."""
    match language:
        case Language.PYTHON:
            return _pinned(".python-version", read) or _requires_python(read)
        case Language.NODE:
            return _pinned(".nvmrc", read) or _engines(read)


def _pinned(file: str, read: Read) -> Demand | None:
    lines = [line.partition("#")[0].strip() for line in (read(file) or "").splitlines()]
    text = next((line for line in lines if line), "")
    pin = _PIN.fullmatch(text)
    if not text:
        return None
    return Demand(file, text, None if pin is None else _takes_pinned(pin[1]))


def _takes_pinned(pin: str) -> Callable[[Version], bool]:
    wanted = tuple(int(part) for part in pin.split("."))
    # A runtime is of a minor or major version: it follows the patch releases by itself.
    return lambda version: all(a == b for a, b in zip(wanted, version, strict=False))


def _requires_python(read: Read) -> Demand | None:
    try:
        content = tomllib.loads(read("pyproject.toml") or "")
    except tomllib.TOMLDecodeError:
        return None  # the build says what is wrong with it
    text = dig(content, "project", "requires-python")
    return Demand("pyproject.toml", text, _specified(text)) if isinstance(text, str) else None


def _specified(text: str) -> Callable[[Version], bool] | None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        wanted = SpecifierSet(text)
    except InvalidSpecifier:
        return None

    def takes(version: Version) -> bool:
        minor = ".".join(map(str, version))
        return any(wanted.contains(f"{minor}.{patch}") for patch in range(_PATCHES))

    return takes


def _engines(read: Read) -> Demand | None:
    try:
        content = json.loads(read("package.json") or "{}")
    except ValueError:
        return None  # the build says what is wrong with it
    text = dig(content, "engines", "node")
    return Demand("package.json", text, _ranged(text)) if isinstance(text, str) else None


def _ranged(text: str) -> Callable[[Version], bool] | None:
    spans = parse_range(text)
    if spans is None:
        return None
    return lambda version: any(span.holds_some(version[0]) for span in spans)
