"""Level 0: the function is a program that serves HTTP on $PORT.

Its command comes from the settings or from the `web:` line of a Procfile. The program replaces
this process: it gets the signals, and its exit code is the function's.
"""

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from .failure import StartFailed
from .settings import Settings

_WEB = re.compile(r"^web[ \t]*:[ \t]*(?P<line>\S.*)$", re.MULTILINE)
_FILLED_IN = re.compile(r"\$(?:(PORT|HOST)\b|\{(PORT|HOST)\}|\((PORT|HOST)\))", re.ASCII)
_SHELL_ONLY = re.compile(r"[|&;<>()$`\\\"'*?\[\]{}#~=!]")
_SEVERAL = re.compile(r"[;&|\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.ASCII)
_SHELL_WORDS = re.compile(
    r"[.:]|break|case|cd|command|continue|eval|exec|exit|export|for|if|read|set|shift|source|test|"
    r"trap|ulimit|umask|unset|until|wait|while"
)


def find_command(settings: Settings) -> str | tuple[str, ...] | None:
    """What to run instead of a handler, if anything: settings, then handler, then Procfile."""
    if settings.command is not None or settings.handler is not None:
        return settings.command
    return find_web_line(settings.code)


def find_web_line(code: Path) -> str | None:
    """The command of the Procfile's `web` process, if there is one."""
    procfile = code / "Procfile"
    if not procfile.is_file():
        return None
    match = _WEB.search(procfile.read_text(encoding="utf-8-sig", errors="replace"))
    return match["line"].strip() if match else None


def render_arguments(words: tuple[str, ...], environ: Mapping[str, str]) -> list[str]:
    """A list's words with `$PORT` and `$HOST` filled in, also as `${PORT}` and `$(PORT)`.

    Nothing else is: no shell reads a list.
    """
    return [
        _FILLED_IN.sub(lambda match: environ.get(match[1] or match[2] or match[3], ""), word)
        for word in words
    ]


def render_line(line: str) -> str:
    """The line, with `exec` before it if it is one plain command.

    Not every shell replaces itself by its last command; one that stays would take SIGTERM and
    leave the program behind.
    """
    first = line.partition(" ")[0]
    if _SEVERAL.search(line) or _SHELL_WORDS.fullmatch(first) or first.startswith(("(", "{", "[")):
        return line
    return f"exec env {line}" if _ASSIGNMENT.match(line) else f"exec {line}"


def run_command(
    command: str | tuple[str, ...], *, code: Path, environ: Mapping[str, str]
) -> NoReturn:
    """Becomes that program, in the code's folder; raises `StartFailed` if there is none."""
    os.chdir(code)
    if isinstance(command, str):
        words = ["/bin/sh", "-c", render_line(command)]
        _check_shell_line(command, environ)
    else:
        words = render_arguments(command, environ)
        _check_program(words[0], environ)
    try:
        os.execvpe(words[0], words, environ)  # noqa: S606 - the program is the function
    except OSError as error:
        raise StartFailed("HandlerNotFound", f"{words[0]} cannot be run: {error}.") from error


def _check_shell_line(line: str, environ: Mapping[str, str]) -> None:
    """Only a plain first word is looked for; what else a shell can do is its own affair."""
    try:
        first = next(iter(shlex.split(line)), "")
    except ValueError:
        return
    if first and not _SHELL_ONLY.search(first) and not _SHELL_WORDS.fullmatch(first):
        _check_program(first, environ)


def _check_program(program: str, environ: Mapping[str, str]) -> None:
    if shutil.which(program, path=environ.get("PATH")):
        return
    if Path(program).is_file():
        cure = f"chmod +x {program}, or start it by its interpreter."
        raise StartFailed("HandlerNotFound", f"{program} is not executable: {cure}")
    cure = "add it to the code or, if a package brings it, to requirements.txt."
    raise StartFailed("HandlerNotFound", f"There is no program {program!r} to run: {cure}")
