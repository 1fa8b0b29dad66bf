"""Runs a command and turns whatever happens into an exit code."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from sless.cli.commands import group
from sless.cli.exits import Exit, Stop, exit_for
from sless.cli.output import coloured
from sless.cli.server import Choices
from sless.cli.texts import sentence
from sless.errors import SlessError


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs `sless` with those arguments, or the process's own, and returns the exit code."""
    if "_SLESS_COMPLETE" in os.environ:
        group.main(prog_name="sless")
    _survive_any_text()
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(words)
        sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort):
        code = _fail("Interrupted.", Exit.INTERRUPTED)
    except BrokenPipeError:
        code = Exit.BROKEN_PIPE
    except Exception as error:
        if os.environ.get("SLESS_DEBUG"):
            raise
        code = _fail(*_explain(error))
    _leave_quietly()
    return code


def _run(words: list[str]) -> int:
    try:
        with group.make_context("sless", words, obj=Choices()) as ctx:
            group.invoke(ctx)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    return Exit.DONE


def _explain(error: Exception) -> tuple[str, Exit]:
    match error:
        case Stop():
            return error.sentence, error.code
        case click.exceptions.NoArgsIsHelpError():
            return error.format_message(), Exit.USAGE
        case click.UsageError():
            path = error.ctx.command_path if error.ctx else "sless"
            return f"{sentence(error.format_message())} See `{path} --help`.", Exit.USAGE
        case click.ClickException():
            return sentence(error.format_message()), Exit.USAGE
        case SlessError():
            return f"{sentence(error.message)} [{error.reason}]", exit_for(error.reason)
        case OSError():
            what = f" {error.filename!r}" if error.filename else ""
            return f"{error.strerror or error}{what}: free or allow it and try again.", Exit.FAILED
    what = f"{type(error).__name__}: {sentence(str(error))}"
    advice = "run it again with --debug and report what that shows"
    return f"A defect in sless itself ({what}): {advice}.", Exit.FAILED


def _fail(text: str, code: Exit) -> Exit:
    label = click.style("Error:", fg="red") if coloured() else "Error:"
    with suppress(OSError):  # The sentence says so already.
        sys.stdout.flush()
    with suppress(OSError):  # Nobody is left to read it.
        sys.stderr.write(f"{label} {text}\n")
        sys.stderr.flush()
    return code


def _survive_any_text() -> None:
    """What a terminal cannot show is replaced; a stream closed by the shell (`>&-`) is a void."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Stays open: the next socket must not become what programs take for their stdout.
            void = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(void, mode, closefd=False))
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def _leave_quietly() -> None:
    """Keeps the interpreter from failing once more at output that nobody takes."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
