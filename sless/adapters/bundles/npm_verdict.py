"""Reads why npm failed from what it wrote: pure.

Each of its lines begins with `npm error`, or `npm ERR!` before npm 10; the first with `code` is its
own. What follows `command failed` is the output of a package's script, its author's word, which
must not pass for the registry's.
"""

import re
import signal
from pathlib import PurePosixPath

from sless.adapters.bundles.verdict import MESSAGE_MAX, Finished, find_build_line
from sless.errors import (
    DependencyInstallFailed,
    DiskFull,
    IndexUnavailable,
    OutOfMemory,
    SlessError,
)

_OWN = re.compile(r"^npm (?:error|ERR!) ?(?P<text>.*)$", re.MULTILINE)
_CODE = re.compile(r"code (?P<code>\S+)")
_SILENT = re.compile(
    r"ECONN\w+|ENOTFOUND|EAI_\w+|ETIMEDOUT|ERR_SOCKET\w*|EIDLETIMEOUT|ERESPONSETIMEOUT|EPIPE"
    r"|ENETUNREACH|EHOSTUNREACH|FETCH_ERROR|E429|E5\d\d"
)
_NOISE = re.compile(
    r"(code|errno|syscall|path|command|type|network This is a problem|A complete log|Log files were"
    r"|Clean install a project|Usage:|Options:|aliases:|Run \"npm help|npm (ci|install)\b|\[-).*"
    r"|404 *(Note.*|tarball.*)?|notarget In most cases.*|at .*|If you are behind a proxy.*|"
)
_RAISED = re.compile(r"(?:gyp ERR! )?(?:stack )?(?P<line>\w*Error: .+)")
_LABEL = re.compile(r"^(404|notarget) +")
_SHOWN_LINES = 3


def judge_npm(finished: Finished) -> SlessError:
    """The error that a failed npm stands for, with its own decisive lines."""
    output = finished.output
    if finished.code == -signal.SIGKILL:
        return OutOfMemory(
            "npm was killed by the system, which most often means that memory ran out; close other "
            "programs or name smaller dependencies."
        )
    lines = [match["text"].strip() for match in _OWN.finditer(output)]
    code = _find_code(lines)
    if code == "ENOSPC":
        return DiskFull("The disk of the home is full; free some space.")
    if "command failed" in lines:
        return DependencyInstallFailed(_cut(_script_line(lines)))
    told = [_LABEL.sub("", line) for line in lines if not _NOISE.fullmatch(line)] or [code]
    if _SILENT.fullmatch(code):
        return IndexUnavailable(_cut(f"The package registry does not answer: {told[0]}"))
    sentences = [line if line.endswith(".") else f"{line};" for line in told[:_SHOWN_LINES]]
    return DependencyInstallFailed(_cut(" ".join(sentences).strip(";") or _last_line(output)))


def _find_code(lines: list[str]) -> str:
    return next((match["code"] for line in lines if (match := _CODE.fullmatch(line))), "")


def _script_line(lines: list[str]) -> str:
    """Which package's script failed, and the line that says why."""
    failed = lines.index("command failed")
    path = next((line for line in lines[:failed] if line.startswith("path ")), "")
    name = _package_name(path.removeprefix("path "))
    output = lines[failed + 1 :]
    command = output.pop(0) if output and output[0].startswith("command ") else "its script"
    return f"{name}: {command.removeprefix('command ')} failed: {_reason(output)}".rstrip(": ")


def _reason(output: list[str]) -> str:
    """A compiler's line, what was raised first, or the last thing said."""
    raised = (match["line"] for line in output if (match := _RAISED.fullmatch(line)))
    said = [line for line in output if not _NOISE.fullmatch(line)]
    return find_build_line("\n".join(output)) or next(raised, "") or (said[-1] if said else "")


def _package_name(path: str) -> str:
    parts = PurePosixPath(path).parts
    if "node_modules" not in parts:
        return "package.json"
    last = len(parts) - 1 - parts[::-1].index("node_modules")
    return "/".join(parts[last + 1 :])


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "npm failed without a word."


def _cut(text: str) -> str:
    return text if len(text) <= MESSAGE_MAX else f"{text[: MESSAGE_MAX - 1]}…"
