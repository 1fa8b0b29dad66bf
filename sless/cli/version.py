"""`sless version`."""

import platform
from importlib.metadata import version as version_of

import click

from sless.cli.command import ExampleCommand
from sless.cli.options import output_option
from sless.cli.output import say, say_json


@click.command(
    cls=ExampleCommand,
    examples=("sless version",),
)
@output_option
def version(*, output: str) -> None:
    """Print the version of this command line."""
    number = version_of("sless")
    if output == "json":
        say_json({"version": number, "python": platform.python_version()})
    else:
        say(f"sless {number}")
