"""Options and argument types that commands share."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING

import click

from sless.cli.command import choices_of
from sless.errors import InvalidName
from sless.model.function import EnvVar, FunctionRef
from sless.naming import check_build_id, check_name, check_namespace

if TYPE_CHECKING:
    from sless.cli.api import Api

WAIT_SECONDS = 1800.0
"""As long as the slowest build may take, twice; the server ends each ask by itself before."""


class _Checked(click.ParamType[str]):
    """A text that one of `sless.naming`'s checks lets pass."""

    def __init__(self, name: str, check: Callable[[str], str]) -> None:
        self.name = name
        self._check = check

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        try:
            return self._check(str(value))
        except InvalidName as error:
            self.fail(error.message, param, ctx)


class _Variable(click.ParamType[EnvVar]):
    """`NAME=value`."""

    name = "name=value"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> EnvVar:
        name, equals, content = str(value).partition("=")
        if not name or not equals:
            self.fail(f"{str(value)!r} is no variable: write NAME=value.", param, ctx)
        return EnvVar(name, content)


class _Words(click.ParamType[list[str]]):
    """A command as a shell's words; empty for none."""

    name = "words"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[str]:
        try:
            return shlex.split(str(value))
        except ValueError as error:
            self.fail(f"{str(value)!r} cannot be split into words: {error}.", param, ctx)


def _check_twice(
    ctx: click.Context, param: click.Parameter, env: tuple[EnvVar, ...]
) -> tuple[EnvVar, ...]:
    names = [var.name for var in env]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise click.BadParameter(f"variable {twice!r} is given twice.", ctx, param)
    return env


NAME = _Checked("name", check_name)
NAMESPACE = _Checked("namespace", check_namespace)
BUILD = _Checked("build", check_build_id)
WORDS = _Words()


namespace_option = click.option(
    "-n",
    "--namespace",
    type=NAMESPACE,
    envvar="SLESS_NAMESPACE",
    default="default",
    help="Namespace, or SLESS_NAMESPACE.  [default: default]",
)
output_option = click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    help="What to print on stdout.  [default: text]",
)


env_option = click.option(
    "-e",
    "--env",
    type=_Variable(),
    multiple=True,
    metavar="NAME=VALUE",
    callback=_check_twice,
    help="Variable; may repeat.",
)


def function_argument(command: Callable[..., None]) -> Callable[..., None]:
    """NAME and `--namespace`, handed over as one `ref`."""

    @wraps(command)
    def gathered(*args: object, name: str, namespace: str, **others: object) -> None:
        command(*args, ref=FunctionRef(namespace, name), **others)

    return click.argument("name", type=NAME)(namespace_option(gathered))


@dataclass(frozen=True, slots=True)
class Manner:
    """How an ask that was made is waited for and printed."""

    wait: bool
    timeout: float
    """Seconds."""
    as_json: bool


def ask_options(command: Callable[..., None]) -> Callable[..., None]:
    """`--output`, `--no-wait` and `--timeout`, handed over as one `manner`."""

    @wraps(command)
    def gathered(
        *args: object, output: str, no_wait: bool, timeout: float, **others: object
    ) -> None:
        manner = Manner(wait=not no_wait, timeout=timeout, as_json=output == "json")
        command(*args, manner=manner, **others)

    for option in (_timeout_option, _no_wait_option, output_option):
        gathered = option(gathered)
    return gathered


_no_wait_option = click.option(
    "--no-wait", is_flag=True, help="Do not wait until the function serves it."
)
_timeout_option = click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=WAIT_SECONDS,
    metavar="SECONDS",
    help="How long to wait.  [default: 1800]",
)


def connect(ctx: click.Context) -> "Api":
    """The API that the command line chose; raises `Stop`."""
    # httpx takes longer to import than the rest of a command together.
    from sless.cli.api import Api
    from sless.cli.connection import Connection

    connection = Connection(choices_of(ctx))
    ctx.call_on_close(connection.close)
    return Api(connection)
