"""The Node.js of this machine, and its npm."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from sless.adapters.bundles.interpreter import Interpreter
from sless.dependencies import Language
from sless.errors import RuntimeUnavailable

_NAMES = ("node", "nodejs")
_PROBE = (
    "const [major] = process.versions.node.split('.');"
    "console.log([process.execPath, major, process.platform, process.arch].join('\\n'))"
)
_PROBE_SECONDS = 20.0
"""A cold interpreter on a busy laptop takes a few."""
_CURE = (
    "install it and start the home again, name it in SLESS_RUNTIMES__INTERPRETERS, or deploy with "
    "another --runtime."
)


def find_node(runtime: str, major: str, *, configured: Path | None) -> Interpreter:
    """The Node.js of that major version: the configured one, or one on the PATH.

    Raises `RuntimeUnavailable`, naming what is there.
    """
    if configured is not None:
        if interpreter := _probe(configured).get(major):
            return interpreter
        raise RuntimeUnavailable(f"{configured}, set as the interpreter of {runtime}, is not one.")
    present: set[str] = set()
    for path in _programs():
        found = _probe(path)
        if major in found:
            return found[major]
        present |= found.keys()
    raise RuntimeUnavailable(_absence(runtime, present))


def find_npm(node: Path) -> tuple[str, ...]:
    """The command that is npm, run by that Node.js: the one beside it, or one on the PATH.

    Raises `RuntimeUnavailable`.
    """
    beside = shutil.which("npm", path=str(node.parent))
    found = beside or shutil.which("npm")
    if found is None:
        raise RuntimeUnavailable(
            f"There is no npm beside {node} nor on the PATH; install it, since the function has "
            "dependencies."
        )
    program = Path(found).resolve()
    return (str(node), str(program)) if program.suffix == ".js" else (found,)


def _programs() -> Iterator[Path]:
    for folder in os.get_exec_path():
        for name in _NAMES:
            if found := shutil.which(name, path=folder):
                yield Path(found)


def _probe(path: Path) -> dict[str, Interpreter]:
    """The Node.js of that path by its major version; empty when it is none."""
    environ = {name: text for name, text in os.environ.items() if name != "NODE_OPTIONS"}
    try:
        done = subprocess.run(  # noqa: S603 - an interpreter of this machine
            [path, "-e", _PROBE],
            capture_output=True,
            text=True,
            check=True,
            env=environ,
            timeout=_PROBE_SECONDS,
        )
        executable, major, system, machine = done.stdout.split("\n")[:4]
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    platform = f"node-{major}-{system}-{machine}"
    return {major: Interpreter(Language.NODE, Path(executable), platform)}


def _absence(runtime: str, majors: set[str]) -> str:
    there = ", ".join(f"node{major}" for major in sorted(majors, key=int))
    if not there:
        return f"Node.js, which {runtime} needs, is not installed on this machine; {_CURE}"
    return f"This machine has no Node.js for {runtime} (there is {there}); {_CURE}"
