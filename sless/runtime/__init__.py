"""The function runtimes: what starts inside a function's own process.

The code that runs there lies in a folder per language and imports nothing of this product; this
module only hands its files out, for a bundle or an image.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from sless.dependencies import Language

ENTRIES = MappingProxyType({Language.PYTHON: "launch.py", Language.NODE: "launch.mjs"})
"""The file to start, below the folder that `runtime_files` was written to."""

_ROOT = Path(__file__).parent
_PACKAGE = "_sless_runtime"


def runtime_files(language: Language) -> Mapping[str, bytes]:
    """A language's runtime: its files by path below its folder, sorted; no compiled ones.

    The same installation gives the same bytes, so they may be part of a content address.
    """
    root, entry = _ROOT / language.value, ENTRIES[language]
    ending = Path(entry).suffix
    paths = [root / entry, *(root / _PACKAGE).rglob(f"*{ending}")]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(paths)}
