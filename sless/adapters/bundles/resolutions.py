"""Remembers what unpinned requirements resolved to, so that changed code alone resolves nothing."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from sless.adapters.bundles.installer import Lock
from sless.files import write_atomically
from sless.model.function import FunctionRef


@dataclass(frozen=True, slots=True)
class Wish:
    """What was to be resolved, for whom."""

    function: FunctionRef
    dependencies: str
    """Hash of the files that declare them."""
    platform: str
    rebuild: int
    """Another number wants a fresh answer."""


class Resolutions:
    """A folder of locks by wish."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def find(self, wish: Wish) -> Lock | None:
        """The lock remembered for exactly this wish, or none."""
        try:
            content = json.loads(self._path(wish, wish.rebuild).read_bytes())
            return Lock(**content)
        except (FileNotFoundError, TypeError, ValueError):
            return None

    def remember(self, wish: Wish, lock: Lock) -> None:
        """Notes the lock, also for the function's next uploads: they keep what a rebuild got."""
        content = json.dumps(asdict(lock)).encode()
        for rebuild in {wish.rebuild, 0}:
            path = self._path(wish, rebuild)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content, durable=False)

    def _path(self, wish: Wish, rebuild: int) -> Path:
        content = f"{wish.dependencies} {wish.platform} {rebuild}"
        name = f"{hashlib.sha256(content.encode()).hexdigest()[:32]}.json"
        return self._root / wish.function.namespace / wish.function.name / name
