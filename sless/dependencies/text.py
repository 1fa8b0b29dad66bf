"""A dependency file's bytes as text, whichever editor or shell wrote it."""

import codecs
import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from sless.errors import DependencyFileInvalid

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NEWLINE = re.compile(r"\r\n?")


def decode_text(data: bytes, path: str) -> str:
    """UTF-8 or UTF-16 as text with LF and no BOM; raises `DependencyFileInvalid`.

    PowerShell's `pip freeze > requirements.txt` writes UTF-16.
    """
    bom, encoding = next(
        ((bom, encoding) for bom, encoding in _BOMS if data.startswith(bom)),
        (b"", _guess(data)),
    )
    try:
        text = data[len(bom) :].decode(encoding)
    except UnicodeDecodeError as error:
        raise DependencyFileInvalid(
            f"{path} is no {encoding.upper()} text (byte {error.start + len(bom)}); save it as "
            "UTF-8."
        ) from error
    if "\0" in text:
        raise DependencyFileInvalid(f"{path} is a binary file; save it as UTF-8 text.")
    return _NEWLINE.sub("\n", text)


def _guess(data: bytes) -> str:
    """The encoding when there is no BOM: ASCII in UTF-16 has a NUL in every pair."""
    if data[1:2] == b"\0":
        return "utf-16-le"
    return "utf-16-be" if data[:1] == b"\0" else "utf-8"


def read_text(files: Mapping[str, bytes], path: str) -> str:
    """A file that is there, as text; raises `DependencyFileInvalid`."""
    return decode_text(files[path], path)


def parse_toml(text: str, path: str) -> dict[str, Any]:
    """A TOML file's content; raises `DependencyFileInvalid` with the parser's line."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DependencyFileInvalid(f"{path} is no TOML: {error}.") from error


def parse_json(text: str, path: str) -> dict[str, Any]:
    """A JSON object's content; raises `DependencyFileInvalid` with the parser's line."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise DependencyFileInvalid(
            f"{path} is no JSON: {error.msg} in line {error.lineno}, column {error.colno}."
        ) from error
    except (RecursionError, ValueError) as error:
        raise DependencyFileInvalid(f"{path} is no JSON that can be read.") from error
    if not isinstance(content, dict):
        raise DependencyFileInvalid(f"{path} must hold a JSON object, in braces.")
    return content


def table(content: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """The table below those keys; empty where there is none."""
    inner: object = content
    for key in keys:
        inner = inner.get(key) if isinstance(inner, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}
