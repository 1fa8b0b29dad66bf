"""`sless completion`."""

import click

from sless.cli.command import ExampleCommand
from sless.cli.output import say


@click.command(
    cls=ExampleCommand,
    examples=(
        'eval "$(sless completion bash)"        # in ~/.bashrc',
        'eval "$(sless completion zsh)"         # in ~/.zshrc',
        "sless completion fish | source         # in ~/.config/fish/config.fish",
    ),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, *, shell: str) -> None:
    """Print the script that completes commands and options in a shell."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise LookupError(shell)
    complete = kind(ctx.find_root().command, {}, "sless", "_SLESS_COMPLETE")
    # Not `source()`: for bash that starts a bash to look at its version.
    say(complete.source_template % complete.source_vars())
