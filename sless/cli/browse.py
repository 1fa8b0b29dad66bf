"""`sless open`."""

import os
import sys

import click

from sless.cli.command import ServerCommand
from sless.cli.exits import Stop
from sless.cli.options import (
    connect,
    function_argument,
    output_option,
)
from sless.cli.output import say, say_json, tell
from sless.cli.shapes import text_at
from sless.cli.texts import command, words
from sless.model.function import FunctionRef


@click.command(
    "open",
    cls=ServerCommand,
    examples=("sless open hello",),
)
@function_argument
@output_option
@click.pass_context
def open_ui(ctx: click.Context, *, ref: FunctionRef, output: str) -> None:
    """Open the newest build in Temporal UI, and print its address.

    Without a display, and with -o json, the address is only printed.
    """
    url = text_at(connect(ctx).newest_build(ref), "temporalUrl")
    if not url:
        raise Stop(f"{ref} has no build to look at yet: {command('get', *words(ref))} shows why.")
    if output == "json":
        say_json({"namespace": ref.namespace, "name": ref.name, "temporalUrl": url})
        return
    say(url)
    if has_display():
        _browse(url)


def has_display() -> bool:
    """Whether a browser could show something to the person at the terminal."""
    if not sys.stdout.isatty():
        return False
    if sys.platform in {"darwin", "win32"}:
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _browse(url: str) -> None:
    import webbrowser

    # The address comes from the server; a browser must not be handed a file: or a program.
    if url.startswith(("http://", "https://")) and webbrowser.open(url):
        return
    tell("No browser could be started: open the address yourself.")
