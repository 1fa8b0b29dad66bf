"""What goes into each workflow and comes out."""

from dataclasses import dataclass

from sless.model.function import Ask, FunctionRef
from sless.model.outcome import Step


@dataclass(frozen=True, slots=True)
class FunctionOrder:
    """Answer a function's asks until none is left."""

    function: FunctionRef
    ask: Ask | None = None
    """The ask for which the run was started: what a cancel before the first read means."""


@dataclass(frozen=True, slots=True)
class FunctionReport:
    """What a run of the function workflow answered."""

    answered: tuple[str, ...] = ()
    """One line for each outcome written."""


@dataclass(frozen=True, slots=True)
class BuildOrder:
    """Make one s3Key's image and roll it out."""

    function: FunctionRef
    uid: str
    generation: int
    """Of the ask that started the build; a newer one of the same s3Key joins it."""
    s3_key: str


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build did, finished or failed."""

    build: str
    attempts: int = 0
    image: str = ""
    """By digest; empty when none was made."""
    revision: str = ""
    generation: int = 0
    """The newest generation that the rollout served; 0 when it served none."""
    log_prefix: str = ""
    """Empty when no attempt was needed."""
    steps: tuple[Step, ...] = ()
    warnings: tuple[str, ...] = ()
