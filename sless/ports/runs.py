"""Workflow runs, as the API and the watcher see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from sless.model.function import Ask, FunctionRef
from sless.model.phase import Phase


class RunState(StrEnum):
    """A run's state in Temporal's own terms."""

    RUNNING = "Running"
    COMPLETED = "Completed"
    FAILED = "Failed"
    CANCELLED = "Canceled"
    TERMINATED = "Terminated"
    TIMED_OUT = "TimedOut"
    CONTINUED = "ContinuedAsNew"


@dataclass(frozen=True, slots=True)
class Run:
    """One Temporal execution, by its search attributes and memo."""

    workflow_id: str
    run_id: str
    state: RunState
    function: FunctionRef
    ask: Ask | None = None
    """The ask that the run last read."""
    build: str = ""
    phase: Phase | None = None
    reason: str = ""
    message: str = ""
    attempts: int = 0
    started_at: str = ""
    ended_at: str = ""
    """Empty while it runs."""
    s3_key: str = ""
    """Of a build: what it is made of."""


class Runs(Protocol):
    """Every method may raise `WorkflowsUnavailable`."""

    async def look(self, function: FunctionRef, *, ask: Ask | None = None) -> str:
        """Signals `look` to the function workflow, starting it if need be; its workflow id."""
        ...

    async def running(self) -> Sequence[Run]:
        """Every function and build workflow under way, by one list."""
        ...

    async def superseded(self, function: FunctionRef) -> Sequence[Run]:
        """The builds of a function that a newer ask ended, the newest first, by one list.

        As long as they are kept, and of every Function that ever had the name.
        """
        ...

    async def find(self, workflow_id: str) -> Run | None:
        """The newest run of that id, confirmed by describe; or none."""
        ...

    async def close(self, workflow_id: str) -> None:
        """Requests the cancellation of the running run, if any, and waits for its end."""
        ...

    def url(self, workflow_id: str, run_id: str = "") -> str:
        """The run's page in Temporal UI."""
        ...
