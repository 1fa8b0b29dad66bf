"""One attempt at a build: the Job it is, and how it fares."""

from dataclasses import dataclass
from enum import StrEnum

CONTAINERS = ("fetch", "base", "build", "push")
"""A Job's containers in the order in which they run; a builder may have fewer."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One Job; a retried activity adopts the same attempt's, a new attempt has a new nonce."""

    namespace: str
    name: str
    uid: str
    """The Function's."""
    build: str
    nonce: str
    runtime: str
    context_sha256: str
    rebuild: int = 0
    """The `-r<n>` of the s3Key: a rebuild resolves unpinned dependencies again."""
    deadline_seconds: int = 900


class AttemptState(StrEnum):
    """How an attempt's Job fares."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True)
class AttemptStatus:
    """What the builder says of an attempt."""

    state: AttemptState
    digest: str = ""
    """`sha256:<hex>` as the pushing container told it, once succeeded."""
    reason: str = ""
    """A leaf of the error tree, once failed, or while it cannot start."""
    message: str = ""


@dataclass(frozen=True, slots=True)
class LogChunk:
    """Bytes of one container's log, from `start` on."""

    container: str
    start: int
    data: bytes
