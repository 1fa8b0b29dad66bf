"""Files that are written whole or not at all."""

import os
import tempfile
from pathlib import Path


def write_atomically(
    path: Path, content: bytes, *, mode: int = 0o644, durable: bool = True
) -> None:
    """Writes beside the path and renames into place; `durable`: on disk before it returns."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
