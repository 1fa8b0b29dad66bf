"""`sless up`: the embedded home, in the foreground."""

from pathlib import Path

import click

from sless.cli.command import ExampleCommand, choices_of
from sless.cli.exits import Exit, Stop

_HIGHEST = 65535


class _Port(click.ParamType[int]):
    name = "port"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        text = str(value)
        if text == "auto":
            return 0
        if not (text.isascii() and text.isdigit() and int(text) <= _HIGHEST):
            self.fail(f"{text!r} is no port: give 1 to {_HIGHEST}, or auto.", param, ctx)
        return int(text)


_PORT = _Port()


@click.command(
    cls=ExampleCommand,
    examples=("sless up", "sless up --data ./home --port auto --gateway-port auto --ui-port auto"),
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder for everything the home keeps.  [default: SLESS_DATA, or ~/.local/share/sless]",
)
@click.option("--port", type=_PORT, help="Port of the API; auto is any free one.  [default: 8081]")
@click.option("--gateway-port", type=_PORT, help="Port of the functions.  [default: 8080]")
@click.option("--ui-port", type=_PORT, help="Port of Temporal UI.  [default: 8233]")
@click.option(
    "--host",
    metavar="ADDRESS",
    help="Address of API and functions; Temporal UI has no password and stays on this machine.  "
    "[default: 127.0.0.1]",
)
@click.pass_context
def up_command(  # noqa: PLR0913 - one per option
    ctx: click.Context,
    *,
    data: Path | None,
    port: int | None,
    gateway_port: int | None,
    ui_port: int | None,
    host: str | None,
) -> None:
    """Run the embedded home on this machine: API, builds, functions, Temporal and its UI.

    It stays in the foreground until Ctrl-C, and goes on from the same folder at its next start.
    """
    # What the home is made of takes longer to import than other commands take to run.
    from sless.errors import InvalidSetting
    from sless.local.keeper import PartFailed
    from sless.local.run_home import Wanted, run_home

    wanted = Wanted(
        data=data or choices_of(ctx).data,
        host=host,
        port=port,
        gateway_port=gateway_port,
        ui_port=ui_port,
    )
    try:
        run_home(wanted)
    except InvalidSetting as error:
        raise Stop(error.message, Exit.USAGE) from error
    except PartFailed as error:
        raise Stop(str(error), Exit.FAILED) from error
