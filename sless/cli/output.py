"""What goes to stdout and stderr, and how it is coloured."""

import json
import os
import shutil
import sys
from collections.abc import Sequence

from sless.cli.texts import printable

Json = dict[str, object]


def coloured() -> bool:
    """Whether stderr is a terminal that takes colours; https://no-color.org is honoured."""
    return (
        sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def say(line: str) -> None:
    """A line of data to stdout; control characters are kept from a terminal."""
    sys.stdout.write(f"{printable(line) if sys.stdout.isatty() else line}\n")


def tell(line: str) -> None:
    """A line about the work to stderr."""
    sys.stdout.flush()
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def say_json(content: object, *, indent: int | None = 2) -> None:
    """A JSON document to stdout."""
    sys.stdout.write(json.dumps(content, indent=indent, ensure_ascii=False) + "\n")


def say_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Aligned columns; where the terminal is too narrow for them, a block of lines per row."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    if (
        sys.stdout.isatty()
        and sum(widths) + 2 * len(widths) - 2 > shutil.get_terminal_size().columns
    ):
        _say_blocks(header, rows)
        return
    for row in (header, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        say("  ".join(cells).rstrip())


def say_fields(fields: Sequence[tuple[str, str]]) -> None:
    """Names and values, one pair a line; pairs without a value are left out."""
    width = max((len(name) for name, value in fields if value), default=0)
    for name, value in fields:
        if value:
            say(f"{name.ljust(width)}  {value}")


def _say_blocks(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    for number, row in enumerate(rows):
        if number:
            say("")
        say_fields(list(zip(header, row, strict=True)))
