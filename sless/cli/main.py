"""The entry point: imports the rest where Ctrl-C already ends in a sentence."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs `sless` with those arguments, or the process's own, and returns the exit code."""
    try:
        from sless.cli.run import run
    except KeyboardInterrupt:
        sys.stderr.write("Error: Interrupted.\n")
        return 130  # as in sless.cli.exits, which is not there yet
    return run(arguments)
