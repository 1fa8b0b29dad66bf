"""Which interpreter runs a runtime on this machine."""

import re
from collections.abc import Mapping
from pathlib import Path

from sless.adapters.bundles.interpreter import Interpreter
from sless.adapters.bundles.nodes import find_node
from sless.adapters.bundles.pythons import find_python
from sless.errors import RuntimeUnavailable

_PYTHON = re.compile(r"python(?P<version>3\.[0-9]+)", re.ASCII)
_NODE = re.compile(r"node(?P<major>[0-9]+)", re.ASCII)


def find_interpreter(runtime: str, *, configured: Mapping[str, Path]) -> Interpreter:
    """The interpreter of a runtime: the configured one, or one that is installed.

    Raises `RuntimeUnavailable`, naming what is there.
    """
    path = configured.get(runtime)
    if match := _PYTHON.fullmatch(runtime):
        return find_python(runtime, match["version"], configured=path)
    if match := _NODE.fullmatch(runtime):
        return find_node(runtime, match["major"], configured=path)
    raise RuntimeUnavailable(
        f"The embedded home runs functions in Python or Node.js; {runtime} is neither."
    )
