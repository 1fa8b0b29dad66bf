"""What a function's process is started with: pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sless.adapters.bundles.bundle import Bundle
from sless.adapters.bundles.interpreter import Interpreter
from sless.adapters.bundles.trees import Trees
from sless.dependencies import Language
from sless.local.runner.expansion import expand_all
from sless.model.deployment import Revision
from sless.runtime import ENTRIES

HOST = "127.0.0.1"
"""Functions are reached through the gateway alone."""
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TERMINATION_LOG = "termination.json"
"""In the instance's folder."""
_PROGRAMS = "bin"
"""Likewise: the interpreter by the names that programs call it."""
_ALIASES = {Language.PYTHON: ("python3",), Language.NODE: ("nodejs",)}
_COMPANIONS: Mapping[Language, tuple[str, ...]] = {
    Language.PYTHON: (),
    Language.NODE: ("npm", "npx"),
}
"""Programs beside it that start whichever interpreter the `PATH` names; absent ones do no harm."""


@dataclass(frozen=True, slots=True)
class FunctionProcess:
    """A command, its environment and where it runs."""

    command: tuple[str, ...]
    environ: Mapping[str, str]
    folder: Path


def render_programs(interpreter: Interpreter, folder: Path) -> dict[Path, Path]:
    """The links to lay in the instance's folder, each with what it leads to.

    Started by one of them, the runtime puts their folder on the `PATH`: `python` is then the
    function's own, as in a container's image, whatever the machine calls so; likewise `node`.
    """
    names = (interpreter.language.value, *_ALIASES[interpreter.language], interpreter.path.name)
    links = {folder / _PROGRAMS / name: interpreter.path for name in names}
    for name in _COMPANIONS[interpreter.language]:
        links[folder / _PROGRAMS / name] = interpreter.path.parent / name
    return links


def render_process(  # noqa: PLR0913  # a process is made of this much, all named
    revision: Revision,
    *,
    bundle: Bundle,
    trees: Trees,
    language: Language,
    folder: Path,
    port: int,
    drain_seconds: float,
) -> FunctionProcess:
    """How to start a revision, by the links of `render_programs`.

    Nothing of our own environment is in it.
    """
    own = {
        "PORT": str(port),
        "SLESS_HOST": HOST,
        "SLESS_CODE": str(trees.path(bundle.code)),
        "SLESS_TERMINATION_LOG": str(folder / TERMINATION_LOG),
        "SLESS_DRAIN_SECONDS": f"{drain_seconds:g}",
    }
    if bundle.dependencies:
        own["SLESS_SITE"] = str(trees.path(bundle.dependencies))
    if bundle.launcher_site:
        own["SLESS_RUNTIME_SITE"] = str(trees.path(bundle.launcher_site))
    if revision.handler:
        own["SLESS_HANDLER"] = revision.handler
    if revision.command:
        own["SLESS_COMMAND"] = json.dumps(revision.command)
    base = {"PATH": _PATH, "LANG": "C.UTF-8", "HOME": str(folder), "TMPDIR": str(folder)}
    entry = trees.path(bundle.launcher) / ENTRIES[language]
    return FunctionProcess(
        command=(str(folder / _PROGRAMS / language.value), str(entry)),
        environ=base | expand_all(revision.env) | own,
        folder=trees.path(bundle.code),
    )
