"""Reads why an installer failed from what it wrote: pure.

uv ends with `error:` and indented `cause:` lines; a build backend's own output hangs below them,
indented further, and is the function's author's word: it must not pass for the index's.
"""

import re
import signal
from dataclasses import dataclass

from sless.errors import (
    DependencyInstallFailed,
    DiskFull,
    IndexUnavailable,
    OutOfMemory,
    SlessError,
)

MESSAGE_MAX = 600
"""Characters: a status shows it in a table."""

_OWN = re.compile(r"^(?:error|  cause|  Caused by): (?P<text>.+)$", re.MULTILINE)
_BACKEND = re.compile(r"^ {4,}\[(?:stderr|stdout)\]$|^ {4,}--- std(?:err|out)$", re.MULTILINE)
_SILENT = re.compile(
    r"error sending request|tcp connect|dns error|connection (refused|reset|closed)|timed? ?out"
    r"|status server error|\(429 |request failed after|error decoding response body"
    r"|connection was forcibly|network is unreachable",
    re.IGNORECASE,
)
_ANSWERED = re.compile(r"status client error \((?!429)", re.IGNORECASE)
_FULL = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)
_COMPILER = re.compile(r"^\s*(?P<line>\S[^\n]*?:\d+(?::\d+)?: (?:fatal )?error: .+)$", re.MULTILINE)
_RAISED = re.compile(r"^\s*(?P<line>(?:[\w.]+(?:Error|Exception)|error|ERROR): .+)$", re.MULTILINE)
_NO_COMPILER = re.compile(
    r"^\s*(?P<line>.*(?:command '?\S+'? failed: No such file|unable to execute '"
    r"|Unknown compiler\(s\)|cargo.*not found).*)$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that ended."""

    code: int
    """Its exit code; minus a signal's number if one killed it."""
    output: str
    """The end of what it wrote, both streams as they came."""


def judge_install(finished: Finished) -> SlessError:
    """The error that a failed installer stands for, with its decisive line."""
    output = finished.output
    if finished.code == -signal.SIGKILL:
        return OutOfMemory(
            "The installer was killed by the system, which most often means that memory ran out; "
            "close other programs or name smaller dependencies."
        )
    if _FULL.search(output):
        return DiskFull("The disk of the home is full; free some space.")
    backend = _BACKEND.search(output)
    own = [match["text"].strip() for match in _OWN.finditer(output)]
    if backend:
        return DependencyInstallFailed(_cut(_backend_line(own, output[backend.end() :])))
    told = "\n".join(own)
    if _SILENT.search(told) and not _ANSWERED.search(told):
        return IndexUnavailable(_cut(f"The package index does not answer: {own[-1]}"))
    return DependencyInstallFailed(_cut(_decisive(own) or _last_line(output)))


def _decisive(own: list[str]) -> str:
    """The last cause says what is wrong; the first line only that something is."""
    return own[-1] if own else ""


def _backend_line(own: list[str], text: str) -> str:
    """What failed to build, and the compiler's or backend's own line."""
    head = own[0] if own else "A package could not be built"
    return f"{head}: {find_build_line(text) or _last_line(text)}"


def find_build_line(text: str) -> str | None:
    """The line of a package's build that says why it failed, if one looks like that."""
    for pattern in (_COMPILER, _NO_COMPILER):
        if match := pattern.search(text):
            return match["line"].strip()
    raised = [match["line"].strip() for match in _RAISED.finditer(text)]
    return raised[-1] if raised else None


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "The installer failed without a word."


def _cut(text: str) -> str:
    return text if len(text) <= MESSAGE_MAX else f"{text[: MESSAGE_MAX - 1]}…"
