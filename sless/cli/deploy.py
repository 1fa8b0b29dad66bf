"""`sless deploy`."""

from dataclasses import dataclass

import click

from sless.cli.command import ServerCommand
from sless.cli.options import WORDS, Manner, ask_options, connect, env_option
from sless.cli.output import Json
from sless.cli.reporter import open_reporter
from sless.cli.runtime import choose_runtime
from sless.cli.sending import Code, Source, choose_ref, send, source_options
from sless.cli.settings import merge_env
from sless.cli.shapes import parse_ask, text_at
from sless.model.function import EnvVar


@dataclass(frozen=True, slots=True)
class Wish:
    """The settings that the command line asks for."""

    handler: str | None
    command: list[str] | None
    env: tuple[EnvVar, ...]

    def settings(self, before: Json | None) -> Json:
        """The settings to send: what is not given keeps its value, also among the variables."""
        wanted: Json = {}
        if self.handler is not None:
            wanted["handler"] = self.handler or None
        if self.command is not None:
            wanted["command"] = self.command
        if self.env:
            wanted["env"] = merge_env(before, put=self.env)
        return wanted


@click.command(
    cls=ServerCommand,
    examples=(
        "sless deploy examples/hello --env GREETING=Hello",
        "sless deploy app.zip --name shop -n team-a --runtime python3.12 --no-wait",
    ),
)
@source_options
@click.option("--handler", metavar="MODULE:ATTR", help="What to call; '' looks for it again.")
@click.option(
    "--command",
    type=WORDS,
    metavar="WORDS",
    help="Starts an HTTP server on $PORT instead of a handler; '' takes it back.",
)
@env_option
@ask_options
@click.pass_context
def deploy(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    *,
    source: Source,
    handler: str | None,
    command: list[str] | None,
    env: tuple[EnvVar, ...],
    manner: Manner,
) -> None:
    """Deploy a folder or a zip, and wait until it answers.

    Prints the function's URL on stdout; the build's steps and its log go to stderr. Variables that
    were set before stay unless they are given again.
    """
    from sless.cli.asks import conclude
    from sless.cli.log_stream import find_log_end

    reporter = open_reporter()
    ref = choose_ref(source, reporter)
    api = connect(ctx)
    with reporter:
        before = api.find_function(ref)
        seen = find_log_end(api, ref, before) if manner.wait else None
        code = Code(source.path, ref, choose_runtime(api, source, before, reporter))
        settings = Wish(handler, command, env).settings(before)
        ask = parse_ask(send(api, code, reporter=reporter, settings=settings))
        if text_at(before, "spec", "s3Key") == ask.s3_key:
            reporter.note(f"The code is unchanged since the last upload (build {ask.build}).")
    conclude(api, ask, reporter=reporter, manner=manner, seen=seen)
