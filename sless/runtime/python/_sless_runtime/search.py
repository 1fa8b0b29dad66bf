"""Level 1: which object of the code is the function."""

from dataclasses import dataclass
from pathlib import Path

from .failure import StartFailed
from .framework import find_framework_target, make_framework_app
from .loading import load_target, parse_target
from .offers import Offer, list_below, list_offers, read_offers
from .settings import Settings

CANDIDATES = (
    ("handler", "handler"),
    ("handler", "app"),
    ("main", "app"),
    ("main", "handler"),
    ("app", "app"),
    ("app", "handler"),
    ("asgi", "app"),
    ("asgi", "application"),
    ("wsgi", "app"),
    ("wsgi", "application"),
)
"""Module and attribute, in the order they are looked for when no handler is named."""


@dataclass(frozen=True, slots=True)
class Found:
    """The function's object, and where it was found."""

    target: object
    where: str
    """As `module:attribute`."""


def find_function(settings: Settings) -> Found:
    """Imports the function; raises `StartFailed` when there is none, or when it does not import."""
    framework = find_framework_target(settings.code, settings.handler)
    if framework is not None:
        module, name = framework
        app = make_framework_app(module, name, code=settings.code)
        return Found(app, f"{module}:{name}")
    offers = read_offers(settings.code)
    module, name = (
        parse_target(settings.handler)
        if settings.handler
        else choose_candidate(offers, code=settings.code)
    )
    target = load_target(module, name, code=settings.code, offers=offers)
    return Found(target, f"{module}:{name}")


def choose_candidate(offers: dict[str, Offer], *, code: Path) -> tuple[str, str]:
    """The first candidate that the files offer; raises `StartFailed` if none does."""
    for module, name in CANDIDATES:
        if module in offers and offers[module].may_have(name):
            return module, name
    looked = ", ".join(f"{module}:{name}" for module, name in CANDIDATES)
    web = "a web line in the Procfile" if (code / "Procfile").is_file() else "a Procfile"
    advice = _hint(offers) if offers else list_below(code)
    raise StartFailed(
        "HandlerNotFound",
        f"No handler was found. Looked for {looked}, and {web}. "
        f"{list_offers(offers)} {advice}".rstrip(),
    )


def _hint(offers: dict[str, Offer]) -> str:
    """An example that would work, from the first file that has one."""
    for offer in offers.values():
        if offer.callables:
            target = f"{offer.module}:{offer.callables[0]}"
            return f"Name one with --handler module:attribute, for example --handler {target}."
    return ""
