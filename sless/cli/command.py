"""Commands with examples in their help, and those that talk to a server."""

import os
from pathlib import Path
from typing import Any

import click

from sless.cli.server import Choices


class ExampleCommand(click.Command):
    """A command whose help ends with examples."""

    def __init__(self, *args: Any, examples: tuple[str, ...], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, one a line and never wrapped: they are there to be copied."""
        del ctx
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")


class ServerCommand(ExampleCommand):
    """A command that talks to a server."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        own = {name for parameter in self.params for name in parameter.opts}
        # `invoke --data` is the body: the data folder then stands before the command.
        self.params += [option for option in server_parameters() if not own & set(option.opts)]


def choices_of(ctx: click.Context) -> Choices:
    """What the command line says about the server, so far."""
    return ctx.ensure_object(Choices)


def _remember(ctx: click.Context, param: click.Parameter, value: object) -> None:
    if value is None or value is False:
        return
    setattr(choices_of(ctx), str(param.name), value)
    if param.name == "debug":
        os.environ["SLESS_DEBUG"] = "1"


def server_parameters() -> list[click.Parameter]:
    """`--server`, `--token`, `--data` and `--debug`; they may stand before or after the command."""
    return [
        click.Option(
            ["--server"],
            metavar="URL",
            help="API to talk to, or SLESS_SERVER; else the home on this machine.",
            expose_value=False,
            callback=_remember,
        ),
        click.Option(
            ["--token"],
            metavar="TOKEN",
            help="Token for --server, or SLESS_TOKEN.",
            expose_value=False,
            callback=_remember,
        ),
        click.Option(
            ["--data"],
            metavar="DIR",
            type=click.Path(path_type=Path),
            help="Data folder of the home to talk to, or SLESS_DATA.",
            expose_value=False,
            callback=_remember,
        ),
        click.Option(
            ["--debug"],
            is_flag=True,
            help="Show the traceback of an error, or SLESS_DEBUG=1.",
            expose_value=False,
            callback=_remember,
        ),
    ]
