"""home.json: what a running home tells the CLI, and another `sless up`, about itself."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sless.files import write_atomically


@dataclass(frozen=True, slots=True)
class Home:
    """A home that is up: there is no file when it is not, unless it was killed."""

    version: str
    """Of sless."""
    pid: int
    """Of the supervisor."""
    started: int
    """The supervisor's start in clock ticks since boot: tells a reused pid apart."""
    api: str
    """URL without a slash at its end, like the others."""
    gateway: str
    temporal_ui: str
    temporal: str
    """`host:port` of Temporal's gRPC."""
    s3: str
    token: str
    """Path of the file that holds the token."""
    logs: str
    """Folder of the parts' logs."""
    parts: dict[str, int] = field(default_factory=dict)
    """Pid of each part when it first became ready."""


def write_home(home: Home, path: Path) -> None:
    """Writes home.json, whole or not at all."""
    write_atomically(path, json.dumps(asdict(home), indent=1).encode())


def find_home(path: Path) -> Home | None:
    """What the file says, or none where it is absent or no home.json."""
    try:
        return Home(**json.loads(path.read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
