"""A bundle: what an image is in the embedded home, as a value."""

import hashlib
import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Bundle:
    """The trees that a function runs from, each by the key of its content."""

    runtime: str
    code: str
    """The function's own files."""
    dependencies: str = ""
    """Its installed packages; empty when it has none."""
    launcher: str = ""
    """The runtime's files, `launch.py` at their top."""
    launcher_site: str = ""
    """The packages the runtime itself needs; empty when it has none."""

    def to_json(self) -> bytes:
        """The manifest: canonical JSON, so that equal bundles have one digest."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":")).encode()

    @property
    def digest(self) -> str:
        """`sha256:<hex>` of the manifest."""
        return f"sha256:{hashlib.sha256(self.to_json()).hexdigest()}"

    @property
    def trees(self) -> tuple[str, ...]:
        """The keys of all its trees."""
        keys = (self.code, self.dependencies, self.launcher, self.launcher_site)
        return tuple(key for key in keys if key)


def parse_bundle(text: bytes) -> Bundle:
    """A bundle from its manifest; raises ValueError or TypeError on rubbish."""
    return Bundle(**json.loads(text))
