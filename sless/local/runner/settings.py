"""What the runner may be told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerSettings:
    """Times are in seconds, sizes in bytes."""

    data: Path
    """The home's folder."""
    interpreters: Mapping[str, Path] = field(default_factory=dict)
    """Interpreter by runtime, where the one found is not the wanted one."""
    index_url: str = ""
    """Package index for Python builds; empty for the installer's own."""
    npm_registry: str = ""
    """Registry for Node builds; empty for npm's own."""
    builds: int = 2
    """Jobs at the same time."""
    build_memory_bytes: int = 2048 * MIB
    """Of all processes of a job."""
    build_log_bytes: int = 16 * MIB
    """Of one container's log."""
    function_log_bytes: int = 8 * MIB
    """Of a function's log before it is rotated; one older file is kept."""
    drain_seconds: float = 10.0
    """A stopping function's requests under way may take so long."""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Of whoever started the home: what the installer may use of it reaches builds."""

    def mark(self, *names: str) -> str:
        """What marks the processes of this home, or of one job or function in it."""
        return "".join(f"{name};" for name in (str(self.data.absolute()), *names))
