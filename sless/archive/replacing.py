"""A file that appears whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes its place only when it was written whole."""
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        try:
            yield file  # type: ignore[misc]  # typeshed calls it a wrapper of the same methods
            file.flush()
            os.replace(file.name, path)  # noqa: PTH105 - its name is a string
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
