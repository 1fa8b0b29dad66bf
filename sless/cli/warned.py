"""What the home warned of, in plain words."""

from sless.cli.output import Json, say
from sless.cli.shapes import number_at, objects_at, text_at
from sless.cli.texts import age, sentence


def say_warnings(manifest: Json) -> None:
    """Nothing where all is well; a server of an earlier version tells no warnings."""
    if manifest.get("warnings", ()) is None:
        say("\nWhat went wrong of late cannot be told just now.")
    warnings = objects_at(manifest, "warnings")
    if warnings:
        say("\nWarnings")
    for warning in warnings:
        say(_line(warning))


def _line(warning: Json) -> str:
    count = number_at(warning, "count")
    often = f"{count} times, last" if count > 1 else "once,"
    ago = f"{often} {age(text_at(warning, 'lastSeen'))} ago"
    said = sentence(text_at(warning, "message"))
    return f"{text_at(warning, 'about')}: {said} ({text_at(warning, 'reason')}, {ago})"
