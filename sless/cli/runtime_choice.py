"""Which of the runtimes on offer a function gets: pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sless.cli.demand import Demand, Version
from sless.cli.exits import Exit, Stop
from sless.dependencies import Language

_NAME = re.compile(r"(?P<language>[a-z]+)(?P<version>[0-9]+(?:\.[0-9]+)?)", re.ASCII)
WORDS = {Language.PYTHON: "Python", Language.NODE: "Node.js"}


@dataclass(frozen=True, slots=True)
class Offer:
    """A runtime that the server offers."""

    name: str
    missing: bool = False
    """Whether its machine cannot run it."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a function that nobody named a runtime for."""

    language: Language
    present: str = ""
    """The runtime that it has; empty for a new one."""
    demand: Demand | None = None


def language_of(runtime: str) -> Language | None:
    """The language of a runtime, or none of those whose versions can be compared."""
    return next((each for each in Language if _split(runtime)[0] == each.value), None)


def choose(offers: Sequence[Offer], known: Known) -> str:
    """The present runtime where it may stay, else the newest that fits; raises `Stop`."""
    own = [offer for offer in offers if language_of(offer.name) is known.language]
    fitting = [offer for offer in own if _fits(offer.name, known.demand)]
    if not fitting:
        raise Stop(_refusal(offers, own, known), Exit.USAGE)
    if any(offer.name == known.present for offer in fitting):
        return known.present
    # If the machine has none of them, the server says what to install.
    here = [offer for offer in fitting if not offer.missing] or fitting
    return max(here, key=lambda offer: _split(offer.name)[1]).name


def describe_change(chosen: str, known: Known) -> str:
    """Why a function gets another runtime than it has; empty where it keeps its own."""
    if not known.present or chosen == known.present:
        return ""
    why = f"the server does not offer {known.present} any more"
    if known.demand is not None and not _fits(known.present, known.demand):
        why = asks(known.demand, known.language)
    return f"The runtime changes from {known.present} to {chosen}, since {why}."


def asks(demand: Demand, language: Language) -> str:
    """What a file asks for, as a clause."""
    return f"{demand.file} asks for {WORDS[language]} {demand.text}"


def listed(offers: Sequence[Offer]) -> str:
    """The runtimes on offer, by name."""
    return ", ".join(offer.name for offer in offers) or "none"


def _split(runtime: str) -> tuple[str, Version]:
    match = _NAME.fullmatch(runtime)
    if match is None:
        return "", ()
    return match["language"], tuple(int(part) for part in match["version"].split("."))


def _fits(runtime: str, demand: Demand | None) -> bool:
    return demand is None or demand.takes is None or demand.takes(_split(runtime)[1])


def _refusal(offers: Sequence[Offer], own: Sequence[Offer], known: Known) -> str:
    if not own or known.demand is None:
        return (
            f"The server offers no runtime for {WORDS[known.language]}, which this needs: choose "
            f"one of its own by --runtime ({listed(offers)})."
        )
    return (
        f"{asks(known.demand, known.language)}, and the server offers {listed(own)}: change the "
        "file, or choose one of these by --runtime."
    )
