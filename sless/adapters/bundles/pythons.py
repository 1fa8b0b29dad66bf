"""The Pythons of this machine."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from uv import find_uv_bin

from sless.adapters.bundles.interpreter import Interpreter
from sless.dependencies import Language
from sless.errors import RuntimeUnavailable

_PROBE = (
    "import sys, sysconfig; print(sys.executable, '%d.%d' % sys.version_info[:2],"
    " sys.implementation.name, sysconfig.get_platform(), sep='\\n')"
)
_PROBE_SECONDS = 20.0
"""A cold interpreter on a busy laptop takes a few."""


def find_python(runtime: str, version: str, *, configured: Path | None) -> Interpreter:
    """The Python of that version, `3.11`: the configured one, or one that is installed.

    Raises `RuntimeUnavailable`, naming what is there.
    """
    if configured is not None:
        return _configured(runtime, configured, version=version)
    for path in _likely(version):
        if interpreter := _probe(path, version):
            return interpreter
    listed = _list()  # asks every interpreter there is, which takes seconds
    for program, has in listed:
        if has == version and (interpreter := _probe(Path(program), version)):
            return interpreter
    raise RuntimeUnavailable(_absence(runtime, {has for _, has in listed}))


def _configured(runtime: str, path: Path, *, version: str) -> Interpreter:
    interpreter = _probe(path, version)
    if interpreter is None:
        raise RuntimeUnavailable(f"{path}, set as the interpreter of {runtime}, is not one.")
    return interpreter


def _likely(version: str) -> Iterator[Path]:
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        yield Path(sys.base_prefix, "bin", f"python{version}")  # ours, without its packages
    if found := _uv("find", "--system", "--no-project", version).strip():
        yield Path(found)


def _list() -> list[tuple[str, str]]:
    """Path and version (`3.11`) of every interpreter that uv finds."""
    text = _uv("list", "--only-installed", "--output-format", "json")
    entries = json.loads(text or "[]")
    return [
        (entry["path"], "{major}.{minor}".format(**entry["version_parts"]))
        for entry in entries
        if entry.get("path")
    ]


def _uv(*arguments: str) -> str:
    """What `uv python` says; nothing when it fails, as it does over a broken launcher."""
    command = [find_uv_bin(), "python", *arguments, "--no-python-downloads", "--no-config"]
    done = subprocess.run(  # noqa: S603 - our own uv
        command, capture_output=True, text=True, check=False, cwd="/"
    )
    return done.stdout if done.returncode == 0 else ""


def _probe(path: Path, version: str) -> Interpreter | None:
    try:
        done = subprocess.run(  # noqa: S603 - an interpreter of this machine
            [path, "-I", "-S", "-c", _PROBE],
            capture_output=True,
            text=True,
            check=True,
            timeout=_PROBE_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    executable, found, implementation, platform = done.stdout.split("\n")[:4]
    if found != version:
        return None
    return Interpreter(Language.PYTHON, Path(executable), f"{implementation}-{found}-{platform}")


def _absence(runtime: str, versions: set[str]) -> str:
    present = sorted(versions, key=lambda text: [int(part) for part in text.split(".")])
    there = ", ".join(f"python{version}" for version in present) or "no Python at all"
    return (
        f"This machine has no interpreter for {runtime} (there is {there}); install it, name it in "
        "SLESS_RUNTIMES__INTERPRETERS, or deploy with another --runtime."
    )
