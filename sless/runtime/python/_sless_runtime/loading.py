"""Imports the function's module, and says what went wrong there."""

import difflib
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from .failure import StartFailed, describe, print_traceback
from .offers import Offer, list_offers

PACKAGES = {
    "Crypto": "pycryptodome",
    "PIL": "Pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "fitz": "PyMuPDF",
    "jwt": "PyJWT",
    "psycopg2": "psycopg2-binary",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}
"""Packages that are called otherwise than the module they bring, where people often trip."""

_T = TypeVar("_T")
_TARGET = re.compile(
    r"(?P<module>[^\W\d]\w*(\.[^\W\d]\w*)*):(?P<attribute>[^\W\d]\w*(\.[^\W\d]\w*)*)"
)


def parse_target(text: str) -> tuple[str, str]:
    """Module and attribute of `module:attribute`; raises `StartFailed`."""
    match = _TARGET.fullmatch(text)
    if match and not match["module"].endswith(".py"):
        return match["module"], match["attribute"]
    path, _, attribute = text.partition(":")
    module = path.removesuffix(".py").replace("/", ".")
    if not attribute and "." in path and module == path:
        module, _, attribute = path.rpartition(".")
    guess = f"{module}:{attribute or 'handler'}"
    hint = f", perhaps {guess}" if _TARGET.fullmatch(guess) else ""
    raise StartFailed("HandlerNotFound", f"The handler {text!r} must read module:attribute{hint}.")


def load_target(module: str, attribute: str, *, code: Path, offers: dict[str, Offer]) -> object:
    """The object of that name; raises `StartFailed`."""
    top = module.partition(".")[0]
    if top in offers and top in sys.stdlib_module_names and top in sys.modules:
        raise StartFailed("HandlerNotFound", f"{top}.py is hidden by Python's own; rename it.")
    if importlib.util.find_spec(top) is None:
        told = list_offers(offers)
        raise StartFailed("HandlerNotFound", f"There is no module {module!r} in the code. {told}")
    found: Any = guarded(lambda: _import(module, offers=offers), module=module, code=code)
    for name in attribute.split("."):
        if not hasattr(found, name):
            raise _no_attribute(module, name, owner=found, offers=offers)
        found = getattr(found, name)
    target: object = found
    return target


def guarded(run: Callable[[], _T], *, module: str, code: Path) -> _T:
    """The result of what runs the function's module; what it raises becomes `StartFailed`."""
    try:
        return run()
    except StartFailed:
        raise
    except SystemExit as error:
        print_traceback(error)
        message = f"{module} called sys.exit({error.code!r}) while it was imported."
        raise StartFailed("HandlerImportFailed", message) from error
    except BaseException as error:
        print_traceback(error)
        message = describe(error) + _requirement_hint(error, code)
        raise StartFailed("HandlerImportFailed", message) from error


def _import(module: str, *, offers: dict[str, Offer]) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name and (module == error.name or module.startswith(f"{error.name}.")):
            told = list_offers(offers)
            message = f"There is no module {error.name!r} in the code. {told}"
            raise StartFailed("HandlerNotFound", message) from error
        raise


def _no_attribute(
    module: str, name: str, *, owner: object, offers: dict[str, Offer]
) -> StartFailed:
    offer = offers.get(module)
    callables = (
        offer.callables if offer else tuple(vars(owner)) if hasattr(owner, "__dict__") else ()
    )
    close = difflib.get_close_matches(name, callables, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    told = list_offers({module: offer}) if offer else ""
    return StartFailed("HandlerNotFound", f"{module} has no {name!r}.{hint} {told}".rstrip())


def _requirement_hint(error: BaseException, code: Path) -> str:
    """What to do about a module that is neither Python's nor in the code."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    top = error.name.partition(".")[0]
    if top in sys.stdlib_module_names or (code / top).exists() or (code / f"{top}.py").exists():
        return ""
    return f". Add {PACKAGES.get(top, top)} to requirements.txt."
