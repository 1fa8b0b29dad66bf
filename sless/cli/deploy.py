"""`sless deploy`."""

import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sless.cli.command import ServerCommand
from sless.cli.exits import Exit, Stop
from sless.cli.folder import check_path, guess_runtime, name_for, top_files
from sless.cli.options import (
    NAME,
    WORDS,
    Manner,
    ask_options,
    connect,
    env_option,
    namespace_option,
)
from sless.cli.output import Json
from sless.cli.reporter import Reporter, open_reporter
from sless.cli.settings import merge_env
from sless.cli.shapes import AskReply, text_at
from sless.cli.texts import size
from sless.model.function import EnvVar, FunctionRef

if TYPE_CHECKING:
    from sless.cli.api import Api


@dataclass(frozen=True, slots=True)
class Wish:
    """What the command line asks for."""

    path: Path
    ref: FunctionRef
    runtime: str | None
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
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", type=NAME, help="Name of the function.  [default: the folder's]")
@click.option("--runtime", help="Such as python3.11 or node20.  [default: told by the files]")
@click.option("--handler", metavar="MODULE:ATTR", help="What to call; '' looks for it again.")
@click.option(
    "--command",
    type=WORDS,
    metavar="WORDS",
    help="Starts an HTTP server on $PORT instead of a handler; '' takes it back.",
)
@env_option
@namespace_option
@ask_options
@click.pass_context
def deploy(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    *,
    path: Path,
    name: str | None,
    namespace: str,
    runtime: str | None,
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

    check_path(path)
    reporter = open_reporter()
    ref = FunctionRef(namespace, name or _choose_name(path, reporter))
    api = connect(ctx)
    wish = Wish(path, ref, runtime, handler, command, env)
    with reporter:
        before = api.find_function(ref)
        seen = find_log_end(api, ref, before) if manner.wait else None
        ask = _ask(api, wish, before=before, reporter=reporter)
    conclude(api, ask, reporter=reporter, manner=manner, seen=seen)


def _choose_name(path: Path, reporter: Reporter) -> str:
    name = name_for(path)
    own = path.resolve().stem if path.is_file() else path.resolve().name
    if name != own:
        reporter.note(f"Named it {name}, since {own!r} cannot be a function's name.")
    return name


def _ask(api: "Api", wish: Wish, *, before: Json | None, reporter: Reporter) -> AskReply:
    runtime = wish.runtime or _choose_runtime(wish.path, before)
    with tempfile.TemporaryDirectory(prefix="sless-") as folder:
        ask = _send(
            api, wish, folder=Path(folder), runtime=runtime, before=before, reporter=reporter
        )
    if text_at(before, "spec", "s3Key") == ask.s3_key:
        reporter.note(f"The code is unchanged since the last upload (build {ask.build}).")
    return ask


def _choose_runtime(path: Path, before: Json | None) -> str:
    files = top_files(path)
    runtime = text_at(before, "spec", "runtime") or guess_runtime(files)
    if not runtime:
        _check_holds_files(path, files)
        raise Stop(
            f"The files in {shlex.quote(str(path))} do not tell the runtime: choose one, such as "
            "--runtime python3.11 or --runtime node20, or name the handler's folder.",
            Exit.USAGE,
        )
    return runtime


def _check_holds_files(path: Path, top: list[str]) -> None:
    """Raises `BadArchive` where there is nothing to guess from."""
    from sless.archive.pack import pack

    if not top:
        with tempfile.TemporaryDirectory(prefix="sless-") as folder:
            pack(path, Path(folder) / "code.zip")


def _send(  # noqa: PLR0913 - gathered by `_ask`
    api: "Api", wish: Wish, *, folder: Path, runtime: str, before: Json | None, reporter: Reporter
) -> AskReply:
    from sless.archive.pack import pack
    from sless.cli.upload import make_body

    packed = pack(wish.path, folder / "code.zip")
    for warning in packed.warnings:
        reporter.note(f"Warning: {warning}")
    files = "1 file" if packed.files == 1 else f"{packed.files} files"
    reporter.note(f"Packed {files} for {runtime}, {size(packed.size)}")
    body = make_body(packed, wish.settings(before))
    with packed.path.open("rb") as file:
        return api.upload(
            wish.ref,
            params={"runtime": runtime},
            body=body.send(file, reporter.upload),
            headers=body.headers,
        )
