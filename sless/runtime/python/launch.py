"""Starts a function: `python launch.py`, with everything told by the environment.

Only the standard library and the runtime's own folders are importable until the runtime has
loaded itself: what the function brings along, or the interpreter has installed, cannot replace a
part of it. `isolation` then turns that around for the function.

A child of `multiprocessing` imports this file again as its main module, hence the guard below.
"""

import os
import sys
from importlib import import_module


def _standard_library() -> list[str]:
    """The entries of `sys.path` that the interpreter itself needs."""
    library = os.path.dirname(os.__file__)  # noqa: PTH120 - pathlib would cost start-up time
    parts = {library, os.path.join(library, "lib-dynload")}  # noqa: PTH118 - likewise
    return [entry for entry in sys.path if entry in parts or entry.endswith(".zip")]


def main() -> int:
    """The exit code of the function's process."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - likewise
    own = [here, os.environ.get("SLESS_RUNTIME_SITE", "")]
    sys.path[:] = [entry for entry in own if entry] + _standard_library()
    code: int = import_module("_sless_runtime.start").run()
    return code


if __name__ == "__main__":
    sys.exit(main())
