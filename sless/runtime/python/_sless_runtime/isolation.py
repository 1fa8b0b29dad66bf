"""Keeps the runtime's modules and the function's apart, in one process.

The runtime imports everything it needs before the function is looked at. Then its modules leave
`sys.modules` and its folders leave `sys.path`: they go on working by the references they hold,
while the function imports its own versions, or none.
"""

import os
import site
import sys
from collections.abc import MutableMapping
from pathlib import Path
from types import ModuleType

from .settings import OWN_NAMES, Settings


def clean_environment(environ: MutableMapping[str, str], settings: Settings) -> None:
    """Turns the runtime's environment into the function's, which its child processes inherit.

    PORT stays and HOST is added, for programs that serve HTTP themselves. PATH and PYTHONPATH
    lead to the function's packages and to the interpreter they were installed for.
    """
    for name in OWN_NAMES:
        environ.pop(name, None)
    environ.setdefault("PORT", str(settings.port))
    environ.setdefault("HOST", settings.host)
    environ.setdefault("PYTHONUNBUFFERED", "1")
    packages = [] if settings.site is None else [str(settings.site)]
    programs = [str(Path(packages[0], "bin"))] if packages else []
    _prepend(environ, "PYTHONPATH", [str(settings.code), *packages])
    _prepend(environ, "PATH", [*programs, str(Path(sys.executable).parent)])


def _prepend(environ: MutableMapping[str, str], name: str, entries: list[str]) -> None:
    environ[name] = os.pathsep.join(entries + [entry for entry in [environ.get(name)] if entry])


def forget_runtime() -> None:
    """Removes every module that is not the standard library's, and the way to it."""
    own = [name for name, module in sys.modules.items() if _is_foreign(name, module)]
    for name in own:
        del sys.modules[name]
    sys.path[:] = [entry for entry in sys.path if _is_standard(entry)]
    sys.meta_path[:] = [finder for finder in sys.meta_path if _is_builtin(finder)]
    sys.path_importer_cache.clear()


def enter_function(settings: Settings, *, extra: list[str]) -> None:
    """Makes the function's code, `extra` folders and its packages importable, in this order."""
    sys.path[:0] = [str(settings.code), *extra]
    if settings.site is not None:
        site.addsitedir(str(settings.site))  # after the standard library; honours .pth files


def warn_of_hidden_modules(code: Path) -> None:
    """Names the function's modules which the standard library's hide, on stderr."""
    for path in sorted(code.glob("*.py")):
        if path.stem in sys.stdlib_module_names and path.stem in sys.modules:
            print(  # noqa: T201 - the function's log
                f"sless: warning: {path.name} is hidden by Python's own module {path.stem!r}; "
                "rename it.",
                file=sys.stderr,
            )


def _is_foreign(name: str, module: ModuleType) -> bool:
    if name == "__main__":
        return False
    origin = getattr(getattr(module, "__spec__", None), "origin", None)
    if origin is None:  # built by hand, or a package without __init__.py
        return name.partition(".")[0] not in sys.stdlib_module_names
    return origin not in {"built-in", "frozen"} and not _is_standard(origin)


def _is_builtin(finder: object) -> bool:
    """False for what an editable install or a virtual environment put before the finders."""
    return getattr(finder, "__module__", "").startswith("_frozen_importlib")


def _is_standard(path: str) -> bool:
    library = str(Path(os.__file__).parent)
    if path.endswith(".zip"):
        return True
    inside = path == library or path.startswith(library + os.sep)
    return inside and not {"site-packages", "dist-packages"} & set(Path(path).parts)
