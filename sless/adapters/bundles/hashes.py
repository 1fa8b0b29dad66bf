"""Keeps the hashes that a requirements.txt names: a resolver would write the index's own; pure."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

_CONTINUED = re.compile(r"\s*\\\n\s*")
_COMMENT = re.compile(r"(^|\s)#.*$", re.MULTILINE)
_HASH = re.compile(r"\s*--hash[= ](?P<hash>\w+:[0-9a-fA-F]+)")
_NAME = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)")


def keep_hashes(lock: str, texts: Iterable[str]) -> str:
    """The lock with the hashes named in those texts in place of the resolver's.

    A package of which no text names a hash keeps the resolver's.
    """
    named = _find_hashes(texts)
    if not named:
        return lock
    return "".join(f"{_pinned(line, named)}\n" for line in _logical_lines(lock))


def _find_hashes(texts: Iterable[str]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        for line in _logical_lines(_COMMENT.sub("", text)):
            if hashes := _HASH.findall(line):
                found[_name(line)] += hashes
    return found


def _pinned(line: str, named: Mapping[str, list[str]]) -> str:
    hashes = named.get(_name(line))
    if not hashes:
        return line
    return " ".join([_HASH.sub("", line).strip(), *(f"--hash={one}" for one in hashes)])


def _logical_lines(text: str) -> list[str]:
    return [line.strip() for line in _CONTINUED.sub(" ", text).split("\n") if line.strip()]


def _name(line: str) -> str:
    match = _NAME.match(line)
    return re.sub(r"[-_.]+", "-", match["name"]).lower() if match else ""
