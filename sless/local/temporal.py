"""The embedded home's Temporal: a dev server with a SQLite file and its UI."""

import sys
from dataclasses import dataclass
from pathlib import Path

from sless.attributes import REGISTERED


@dataclass(frozen=True, slots=True)
class TemporalServer:
    """Where the dev server listens and keeps its state."""

    database: Path
    port: int
    ui_port: int
    host: str = "127.0.0.1"
    namespace: str = "default"

    @property
    def address(self) -> str:
        """What clients connect to."""
        return f"{self.host}:{self.port}"

    @property
    def ui_url(self) -> str:
        """Temporal UI's root."""
        return f"http://{self.host}:{self.ui_port}"

    def command(self) -> list[str]:
        """Starts it in the foreground."""
        return [
            str(Path(sys.executable).parent / "temporal"),
            "server",
            "start-dev",
            f"--ip={self.host}",
            f"--ui-ip={self.host}",
            f"--port={self.port}",
            f"--ui-port={self.ui_port}",
            f"--db-filename={self.database}",
            "--sqlite-pragma=journal_mode=wal",
            f"--namespace={self.namespace}",
            "--log-format=json",
            "--log-level=warn",
            *(f"--search-attribute={name}={kind}" for name, kind in REGISTERED),
        ]
