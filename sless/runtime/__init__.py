"""The function runtime: what starts inside a function's own process.

The code that runs there lies in `python/` and imports nothing of this product; this module only
hands its files out, for a bundle or an image.
"""

from collections.abc import Mapping
from pathlib import Path

ENTRY = "launch.py"
"""The file to start, below the folder that `runtime_files` was written to."""

_ROOT = Path(__file__).parent / "python"
_PACKAGE = "_sless_runtime"


def runtime_files() -> Mapping[str, bytes]:
    """The Python runtime's files by path below its folder, sorted; no compiled ones.

    The same installation gives the same bytes, so they may be part of a content address.
    """
    paths = [_ROOT / ENTRY, *(_ROOT / _PACKAGE).rglob("*.py")]
    return {path.relative_to(_ROOT).as_posix(): path.read_bytes() for path in sorted(paths)}
