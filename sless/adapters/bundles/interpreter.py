"""An interpreter, as a value."""

from dataclasses import dataclass
from pathlib import Path

from sless.dependencies import Language


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python or Node.js that is there."""

    language: Language
    path: Path
    """The program itself, no launcher of a version manager."""
    platform: str
    """Equal for interpreters that can share installed packages: `cpython-3.11-linux-x86_64`."""
