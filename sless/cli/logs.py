"""`sless logs`."""

import sys
from typing import TYPE_CHECKING

import click

from sless.cli.command import ServerCommand
from sless.cli.exits import Exit, Stop
from sless.cli.options import (
    BUILD,
    connect,
    function_argument,
    output_option,
)
from sless.cli.output import say_json, tell
from sless.cli.shapes import text_at
from sless.cli.texts import command, printable, sentence, words
from sless.model.function import FunctionRef
from sless.model.phase import Phase

if TYPE_CHECKING:
    from sless.cli.api import Api
    from sless.cli.log_stream import LogEnd, LogText


@click.command(
    cls=ServerCommand,
    examples=("sless logs hello -f", "sless logs hello --build 0123456789ab > build.log"),
)
@function_argument
@click.option("--build", type=BUILD, help="Which build.  [default: the newest]")
@click.option("-f", "--follow", is_flag=True, help="Go on until the build ends.")
@output_option
@click.pass_context
def logs(
    ctx: click.Context,
    *,
    ref: FunctionRef,
    build: str | None,
    follow: bool,
    output: str,
) -> None:
    """Show a build's log, or follow it while it grows.

    What the function itself prints is in the file that `sless get` names.

    With -f the exit code is 1 if the build failed. With -f -o json each event is a line of JSON.
    """
    api = connect(ctx)
    build = build or text_at(api.newest_build(ref), "id")
    if not build:
        raise Stop(f"{ref} has no build yet: {command('get', *words(ref))} shows why.")
    if follow:
        _follow(api, ref, build, as_json=output == "json")
    else:
        _show(api.log(ref, build).decode(errors="replace"), build, as_json=output == "json")


def _show(text: str, build: str, *, as_json: bool) -> None:
    if as_json:
        say_json({"build": build, "log": text})
    else:
        _write(text)
        if not text:
            tell(f"The log of build {build} is empty.")
        elif not text.endswith("\n"):
            sys.stdout.write("\n")


def _follow(api: "Api", ref: FunctionRef, build: str, *, as_json: bool) -> None:
    from sless.cli.log_stream import LogEnd, LogPlace, follow_log

    for event in follow_log(api, ref, LogPlace(build), tell=tell):
        if as_json:
            _say_event(event)
        elif not isinstance(event, LogEnd):
            _write(event.text)
        sys.stdout.flush()
        if isinstance(event, LogEnd) and event.phase in {Phase.FAILED, Phase.CANCELLED}:
            raise Stop(_end_sentence(build, event), Exit.FAILED, reason=event.reason)


def _end_sentence(build: str, end: "LogEnd") -> str:
    message = sentence(end.message).rstrip(".")
    text = f"Build {build} {end.phase.lower()}"
    return f"{text}: {message} [{end.reason}]." if message else f"{text} [{end.reason}]."


def _say_event(event: "LogText | LogEnd") -> None:
    from dataclasses import asdict

    say_json({"event": "log" if hasattr(event, "text") else "end", **asdict(event)}, indent=None)


def _write(text: str) -> None:
    if sys.stdout.isatty():
        text = printable(text, colour=True)
    sys.stdout.write(text)
