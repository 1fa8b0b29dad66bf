"""The runtime that a folder or zip is sent for."""

import shlex
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sless.cli.demand import find_demand
from sless.cli.exits import Exit, Stop
from sless.cli.folder import guess_language, read_top, top_files
from sless.cli.output import Json
from sless.cli.reporter import Reporter
from sless.cli.runtime_choice import (
    Known,
    Offer,
    choose,
    describe_change,
    language_of,
    listed,
)
from sless.cli.sending import Source
from sless.cli.shapes import text_at
from sless.dependencies import Language

if TYPE_CHECKING:
    from sless.cli.api import Api

_GUESSES = {Language.PYTHON: "python3.11", Language.NODE: "node20"}
"""For a server of a version that does not tell what it offers."""


def choose_runtime(api: "Api", source: Source, before: Json | None, reporter: Reporter) -> str:
    """The one that is named; else the Function's or the newest that fits the files.

    Raises `Stop`, or `BadArchive` where there are no files to go by.
    """
    if source.runtime:
        return source.runtime
    present = text_at(before, "spec", "runtime")
    found = api.find_runtimes()
    if found is None:
        return present or _GUESSES[_read_language(source.path, [])]
    offers = [Offer(text_at(item, "name"), bool(text_at(item, "missing"))) for item in found]
    language = language_of(present) if present else _read_language(source.path, offers)
    if language is None:
        return present
    demand = find_demand(language, partial(read_top, source.path))
    known = Known(language, present, demand)
    chosen = choose(offers, known)
    _tell(reporter, chosen, known)
    return chosen


def _tell(reporter: Reporter, chosen: str, known: Known) -> None:
    demand = known.demand
    if demand is not None and demand.takes is None:
        reporter.note(f"{demand.file} says {demand.text!r}, which names no version: passed over.")
    if change := describe_change(chosen, known):
        reporter.note(change)


def _read_language(path: Path, offers: list[Offer]) -> Language:
    files = top_files(path)
    language = guess_language(files)
    if language is None:
        _check_holds_files(path, files)
        offered = listed(offers) if offers else "such as python3.11 or node20"
        raise Stop(
            f"The files in {shlex.quote(str(path))} do not tell the runtime: choose one by "
            f"--runtime ({offered}), or name the handler's folder.",
            Exit.USAGE,
        )
    return language


def _check_holds_files(path: Path, top: list[str]) -> None:
    """Raises `BadArchive` where there is nothing to guess from."""
    from sless.archive.pack import pack

    if not top:
        with tempfile.TemporaryDirectory(prefix="sless-") as folder:
            pack(path, Path(folder) / "code.zip")
