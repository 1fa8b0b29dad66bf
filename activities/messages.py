"""What goes into each activity and comes out: one dataclass in, one out."""

from dataclasses import dataclass

from sless.model.deployment import Deployment
from sless.model.function import Ask, Function, FunctionRef
from sless.model.outcome import Outcome


@dataclass(frozen=True, slots=True)
class LookAround:
    """Look at everything that decides what a function needs next."""

    function: FunctionRef
    pinned: Function | None = None
    """Answer for this Function as it was read before, instead of the newest."""


@dataclass(frozen=True, slots=True)
class FindImage:
    """Look a build's image up."""

    function: FunctionRef
    build: str


@dataclass(frozen=True, slots=True)
class FoundImage:
    """An image by digest reference, if the registry has it."""

    image: str | None


@dataclass(frozen=True, slots=True)
class PrepareContext:
    """Make the context of an upload."""

    function: FunctionRef
    s3_key: str


@dataclass(frozen=True, slots=True)
class PreparedContext:
    """Where the context lies: by its content."""

    sha256: str
    size: int
    """Bytes."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BuildImage:
    """Run one attempt at a build, or adopt it."""

    function: FunctionRef
    uid: str
    s3_key: str
    nonce: str
    context_sha256: str


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """The verified manifest that an attempt pushed."""

    digest: str


@dataclass(frozen=True, slots=True)
class PromoteImage:
    """Give a verified manifest its build's tag."""

    function: FunctionRef
    build: str
    digest: str


@dataclass(frozen=True, slots=True)
class StillWanted:
    """Does the Function of that uid still ask for this s3Key?"""

    function: FunctionRef
    uid: str
    s3_key: str


@dataclass(frozen=True, slots=True)
class RollOutImage:
    """Make the newest Function serve this image."""

    function: FunctionRef
    uid: str
    s3_key: str
    image: str
    """By digest."""


@dataclass(frozen=True, slots=True)
class RolledOut:
    """What serves now."""

    ask: Ask
    revision: str
    """The revision's hash."""


@dataclass(frozen=True, slots=True)
class PutBackGood:
    """Put the last good revision back for an ask that will not be served."""

    function: FunctionRef
    ask: Ask
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class CleanUpDeployment:
    """Delete what was deployed for a Function that is gone; only names and uid are looked at."""

    deployment: Deployment


@dataclass(frozen=True, slots=True)
class RecordOutcome:
    """Write an ask's outcome; the first one stands."""

    outcome: Outcome
    repair: bool = False
    """Note a failed repair beside the outcome instead."""


@dataclass(frozen=True, slots=True)
class CloseBuild:
    """End a build's run that this one did not start, and wait for it."""

    workflow_id: str
