"""The commands by name; each one's module is imported when it runs."""

from dataclasses import dataclass
from importlib import import_module

import click

from sless.cli.command import server_parameters


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command lies, and its line in `sless --help`, which imports none of them."""

    place: str
    """`module:attribute`."""
    summary: str


ENTRIES = {
    "up": Entry("sless.local.up:up_command", "Run the embedded home on this machine."),
    "deploy": Entry("sless.cli.deploy:deploy", "Deploy a folder or a zip."),
    "upload": Entry("sless.cli.upload:upload", "Store a folder or a zip, for kubectl or GitOps."),
    "runtimes": Entry("sless.cli.runtimes:runtimes", "List the runtimes on offer."),
    "list": Entry("sless.cli.show:list_functions", "List functions."),
    "get": Entry("sless.cli.get:get", "Show a function and how it is doing."),
    "builds": Entry("sless.cli.show:builds", "List a function's builds."),
    "logs": Entry("sless.cli.logs:logs", "Show or follow a build's log."),
    "invoke": Entry("sless.cli.invoke:invoke", "Call a function."),
    "set": Entry("sless.cli.acts:set_settings", "Change settings without another upload."),
    "retry": Entry("sless.cli.acts:retry", "Try the newest upload again."),
    "rebuild": Entry("sless.cli.acts:rebuild", "Build again without cache, on a newer base."),
    "cancel": Entry("sless.cli.acts:cancel", "Cancel a build or rollout."),
    "rollback": Entry("sless.cli.acts:rollback", "Go back to an earlier build."),
    "revisions": Entry("sless.cli.show:revisions", "List what was ready once."),
    "delete": Entry("sless.cli.acts:delete", "Delete a function."),
    "open": Entry("sless.cli.browse:open_ui", "Open the newest build in Temporal UI."),
    "completion": Entry("sless.cli.completion:completion", "Print a shell's completion script."),
    "version": Entry("sless.cli.version:version", "Print the version."),
}


class LazyGroup(click.Group):
    """Knows its commands by the table and imports the one that is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the table's order, which is the order of use."""
        del ctx
        return list(ENTRIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported."""
        del ctx
        entry = ENTRIES.get(cmd_name)
        return None if entry is None else load(entry)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in ENTRIES.items()])


def load(entry: Entry) -> click.Command:
    """The command itself."""
    module, _, attribute = entry.place.partition(":")
    command = getattr(import_module(module), attribute)
    if not isinstance(command, click.Command):
        raise TypeError(f"{entry.place} is no command")
    return command


@click.pass_context
def _without_command(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


group = LazyGroup(
    "sless",
    params=server_parameters(),
    no_args_is_help=False,
    invoke_without_command=True,
    callback=_without_command,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="""From a folder to a URL, durably.

    \b
    sless up                   # in one terminal
    sless deploy examples/hello
    sless invoke hello
    """,
    epilog="Exit codes: 0 done, 1 the build or call failed, 2 wrong use, 3 server not reachable.",
)
