"""`sless runtimes`."""

import click

from sless.cli.command import ServerCommand
from sless.cli.exits import Stop
from sless.cli.options import connect, output_option
from sless.cli.output import Json, say_json, say_table, tell
from sless.cli.shapes import text_at
from sless.cli.texts import sentence


@click.command(
    cls=ServerCommand,
    examples=("sless runtimes",),
)
@output_option
@click.pass_context
def runtimes(ctx: click.Context, *, output: str) -> None:
    """List the runtimes that the server offers."""
    items = connect(ctx).find_runtimes()
    if items is None:
        raise Stop("The server is of an earlier version, which does not tell its runtimes.")
    if output == "json":
        say_json({"items": items})
    elif not items:
        tell("The server offers no runtime: see SLESS_RUNTIMES__OFFERED.")
    else:
        say_table(("RUNTIME", "MISSING"), [_row(item) for item in items])


def _row(item: Json) -> tuple[str, str]:
    return text_at(item, "name"), sentence(text_at(item, "missing")) or "-"
