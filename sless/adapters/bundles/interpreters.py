"""Which interpreter runs a runtime on this machine."""

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from uv import find_uv_bin

from sless.errors import RuntimeUnavailable

_PYTHON = re.compile(r"python(?P<version>3\.[0-9]+)", re.ASCII)
_PROBE = (
    "import sys, sysconfig; print(sys.executable, '%d.%d' % sys.version_info[:2],"
    " sys.implementation.name, sysconfig.get_platform(), sep='\\n')"
)
_PROBE_SECONDS = 20.0
"""A cold interpreter on a busy laptop takes a few."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that is there."""

    path: Path
    """The program itself, no launcher of a version manager."""
    platform: str
    """Equal for interpreters that can share installed packages: `cpython-3.11-linux-x86_64`."""


def find_interpreter(runtime: str, *, configured: Mapping[str, Path]) -> Interpreter:
    """The interpreter of a runtime: the configured one, or one that is installed.

    Raises `RuntimeUnavailable`, naming what is there.
    """
    match = _PYTHON.fullmatch(runtime)
    if match is None:
        raise RuntimeUnavailable(
            f"The embedded home runs Python functions; {runtime} needs the Kubernetes home."
        )
    version = match["version"]
    candidates: Iterable[Path] = (
        [configured[runtime]] if runtime in configured else _installed(version)
    )
    for path in candidates:
        interpreter = _probe(path, version)
        if interpreter is not None:
            return interpreter
    raise RuntimeUnavailable(_absence(runtime, configured.get(runtime)))


def _installed(version: str) -> Iterator[Path]:
    """Likely ones first: each look costs more than the one before."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        yield Path(sys.base_prefix, "bin", f"python{version}")  # ours, without its packages
    if found := _uv("find", "--system", "--no-project", version).strip():
        yield Path(found)
    for path, has in _list():
        if has == version:
            yield Path(path)


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
    return Interpreter(Path(executable), f"{implementation}-{found}-{platform}")


def _absence(runtime: str, configured: Path | None) -> str:
    if configured is not None:
        return f"{configured}, set as the interpreter of {runtime}, is not one."
    versions = sorted({version for _, version in _list()}, key=lambda text: int(text[2:]))
    there = ", ".join(f"python{version}" for version in versions) or "no Python at all"
    return (
        f"This machine has no interpreter for {runtime} (there is {there}); install it, name it in "
        "SLESS_RUNTIMES__INTERPRETERS, or deploy with another --runtime."
    )
