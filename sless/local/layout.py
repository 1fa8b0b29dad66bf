"""Where everything lies in the embedded home's data folder."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sless.model.function import FunctionRef


@dataclass(frozen=True, slots=True)
class Layout:
    """The data folder; `root` is absolute."""

    root: Path

    @property
    def database(self) -> Path:
        """SQLite: functions, deployments, instances, jobs, routes."""
        return self.root / "home.db"

    @property
    def home(self) -> Path:
        """URLs, pids and versions while the home is up; read by the CLI."""
        return self.root / "home.json"

    @property
    def token(self) -> Path:
        """What the CLI authenticates with; mode 0600."""
        return self.root / "token"

    @property
    def format(self) -> Path:
        """Which version's format the folder has."""
        return self.root / "format.json"

    @property
    def lock(self) -> Path:
        """Locked by the `sless up` that owns the folder."""
        return self.root / "lock"

    @property
    def keys(self) -> Path:
        """What tokens are signed with, and S3's credentials; mode 0700."""
        return self.root / "keys"

    @property
    def s3_credentials(self) -> Path:
        """Access key id and secret, made once per folder; mode 0600."""
        return self.keys / "s3.json"

    @property
    def s3_config(self) -> Path:
        """What SeaweedFS knows its callers by; mode 0600."""
        return self.keys / "seaweed.json"

    @property
    def temporal_database(self) -> Path:
        """Temporal's SQLite file."""
        return self.root / "temporal.db"

    @property
    def s3(self) -> Path:
        """SeaweedFS's own folder."""
        return self.root / "s3"

    @property
    def envoy(self) -> Path:
        """The gateway's folder: Envoy's files and its admin socket."""
        return self.root / "envoy"

    @property
    def images(self) -> Path:
        """Manifests by digest, tags by function, trees by content."""
        return self.root / "images"

    @property
    def jobs(self) -> Path:
        """A folder per build job: a log per container, and the result."""
        return self.root / "jobs"

    @property
    def functions(self) -> Path:
        """A folder per function process: its termination log and its own log."""
        return self.root / "functions"

    @property
    def uploads(self) -> Path:
        """Zips while they arrive."""
        return self.root / "uploads"

    @property
    def run(self) -> Path:
        """Pid files with start times."""
        return self.root / "run"

    @property
    def logs(self) -> Path:
        """A bounded log per part of the home."""
        return self.root / "logs"

    @property
    def function_logs(self) -> Path:
        """A folder per namespace, a bounded log per function in it."""
        return self.logs / "functions"

    def log(self, part: str) -> Path:
        """A part's log."""
        return self.logs / f"{part}.log"

    def function_log(self, function: FunctionRef) -> Path:
        """What a function prints; one older file is kept beside it."""
        return self.function_logs / function.namespace / f"{function.name}.log"

    def ready_file(self, part: str) -> Path:
        """What a part makes once it is ready."""
        return self.run / f"{part}.ready"

    def pid_file(self, part: str) -> Path:
        """A part's pid file."""
        return self.run / f"{part}.json"


def default_data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the home is when `--data` names no other: `SLESS_DATA`, or the user's data folder."""
    if named := environ.get("SLESS_DATA"):
        return Path(named).absolute()
    base = environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base).absolute() / "sless"
