"""Commands that change a function: set, retry, rebuild, rollback, cancel, delete."""

import sys
from typing import TYPE_CHECKING

import click

from sless.cli.command import ServerCommand
from sless.cli.exits import Exit, Stop
from sless.cli.options import (
    BUILD,
    WORDS,
    Manner,
    ask_options,
    connect,
    env_option,
    function_argument,
    output_option,
)
from sless.cli.output import Json, say, say_json
from sless.cli.reporter import open_reporter
from sless.cli.settings import merge_env
from sless.cli.shapes import AskReply, text_at
from sless.cli.texts import command as command_line
from sless.cli.texts import words
from sless.model.function import EnvVar, FunctionRef

if TYPE_CHECKING:
    from sless.cli.api import Api


@click.command(
    "set",
    cls=ServerCommand,
    examples=(
        "sless set hello --env GREETING=Hi --unset DEBUG",
        "sless set hello --handler main:app",
    ),
)
@function_argument
@env_option
@click.option("--unset", multiple=True, metavar="NAME", help="Variable to remove; may repeat.")
@click.option("--handler", metavar="MODULE:ATTR", help="What to call; '' looks for it again.")
@click.option(
    "--command", type=WORDS, metavar="WORDS", help="Starts a server on $PORT; '' takes it back."
)
@ask_options
@click.pass_context
def set_settings(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    *,
    ref: FunctionRef,
    env: tuple[EnvVar, ...],
    unset: tuple[str, ...],
    handler: str | None,
    command: list[str] | None,
    manner: Manner,
) -> None:
    """Change a function's settings without another upload."""
    spec: Json = {}
    if handler is not None:
        spec["handler"] = handler or None
    if command is not None:
        spec["command"] = command
    if not (spec or env or unset):
        raise Stop("Nothing to set: give --env, --unset, --handler or --command.", Exit.USAGE)
    api = connect(ctx)
    before = api.function(ref)
    if env or unset:
        spec["env"] = merge_env(before, put=env, unset=unset)
    # A list is replaced as a whole: somebody else's variable set meanwhile must not be lost.
    version = text_at(before, "metadata", "resourceVersion") if "env" in spec else ""
    _conclude(api, api.patch(ref, spec, version=version), manner)


@click.command(
    cls=ServerCommand,
    examples=("sless retry hello",),
)
@function_argument
@ask_options
@click.pass_context
def retry(ctx: click.Context, *, ref: FunctionRef, manner: Manner) -> None:
    """Try the newest upload again, after a failure or a cancel."""
    from sless.cli.asks import conclude
    from sless.cli.log_stream import find_log_end

    api = connect(ctx)
    seen = find_log_end(api, ref, api.function(ref)) if manner.wait else None
    ask = api.act(ref, "retry")
    conclude(api, ask, reporter=open_reporter(), manner=manner, seen=seen)


@click.command(
    cls=ServerCommand,
    examples=("sless rebuild hello",),
)
@function_argument
@ask_options
@click.pass_context
def rebuild(ctx: click.Context, *, ref: FunctionRef, manner: Manner) -> None:
    """Build the newest upload again: without a cache, on the newest base.

    Unpinned dependencies are resolved anew.
    """
    api = connect(ctx)
    ask = api.act(ref, "rebuild")
    _conclude(api, ask, manner)


@click.command(
    cls=ServerCommand,
    examples=("sless rollback hello 0123456789ab",),
)
@function_argument
@click.argument("build", type=BUILD)
@ask_options
@click.pass_context
def rollback(
    ctx: click.Context,
    *,
    ref: FunctionRef,
    build: str,
    manner: Manner,
) -> None:
    """Go back to the code of an earlier build, as `sless revisions` lists them."""
    api = connect(ctx)
    ask = api.act(ref, "rollback", {"build": build})
    _conclude(api, ask, manner)


@click.command(
    cls=ServerCommand,
    examples=("sless cancel hello",),
)
@function_argument
@click.argument("build", type=BUILD, required=False)
@output_option
@click.pass_context
def cancel(ctx: click.Context, *, ref: FunctionRef, build: str | None, output: str) -> None:
    """Cancel a build or rollout, the newest one if none is named; the last good one stays."""
    api = connect(ctx)
    build = build or text_at(api.newest_build(ref), "id")
    if not build:
        raise Stop(f"{ref} has no build to cancel: {command_line('get', *words(ref))} shows it.")
    reply = api.cancel(ref, build)
    if output == "json":
        say_json(reply | {"namespace": ref.namespace, "name": ref.name, "build": build})
    else:
        say(f"Cancelling build {build} of {ref}.")


@click.command(
    cls=ServerCommand,
    examples=("sless delete hello --yes",),
)
@function_argument
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@output_option
@click.pass_context
def delete(ctx: click.Context, *, ref: FunctionRef, yes: bool, output: str) -> None:
    """Delete a function: it stops answering, and a build under way is cancelled."""
    api = connect(ctx)
    if not yes:
        _confirm(api, ref)
    reply = api.delete(ref)
    if output == "json":
        say_json(reply | {"namespace": ref.namespace, "name": ref.name, "deleted": True})
    else:
        say(f"Deleted {ref}.")


def _confirm(api: "Api", ref: FunctionRef) -> None:
    if not sys.stdin.isatty():
        raise Stop(f"Nobody can be asked whether to delete {ref}: add --yes.", Exit.USAGE)
    api.function(ref)  # nobody is asked about what is not there
    if not click.confirm(f"Delete {ref} and stop what it serves?", err=True):
        raise Stop(f"{ref} was not deleted.")


def _conclude(api: "Api", ask: AskReply, manner: Manner) -> None:
    from sless.cli.asks import conclude

    conclude(api, ask, reporter=open_reporter(), manner=manner)
