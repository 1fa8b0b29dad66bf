"""The interpreters of this machine, looked for once."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from sless.adapters.bundles.interpreter import Interpreter
from sless.adapters.bundles.interpreters import find_interpreter


class Interpreters:
    """Finds interpreters by runtime, and looks again for one that has gone or was not there."""

    def __init__(self, configured: Mapping[str, Path]) -> None:
        self._configured = configured
        self._found: dict[str, Interpreter] = {}

    async def get(self, runtime: str) -> Interpreter:
        """The interpreter of a runtime; raises `RuntimeUnavailable`."""
        known = self._found.get(runtime)
        if known is None or not known.path.exists():
            known = await asyncio.to_thread(find_interpreter, runtime, configured=self._configured)
            self._found[runtime] = known
        return known
