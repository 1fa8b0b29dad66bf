"""The one process of a Deployment's revision, in the embedded home."""

from dataclasses import dataclass
from enum import StrEnum

from sless.model.deployment import Revision


class InstanceState(StrEnum):
    """How the process of a revision fares."""

    STARTING = "Starting"
    READY = "Ready"
    DRAINING = "Draining"
    CRASHED = "Crashed"


@dataclass(frozen=True, slots=True)
class Instance:
    """The one process of a Deployment's revision."""

    namespace: str
    name: str
    deployment_uid: str
    revision: Revision
    state: InstanceState
    since: float
    """When it came into this state: seconds since the epoch."""
    port: int = 0
    pid: int = 0
    restarts: int = 0
    reason: str = ""
    """A leaf of the error tree once it crashed or would not start."""
    message: str = ""

    @property
    def instance(self) -> str:
        """What its revision names it; with the Deployment's uid, its key."""
        return self.revision.instance
