"""What the gateway tells: which ask of a function its callers reach."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Routed:
    """The gateway took a function's route to this instance."""

    namespace: str
    name: str
    uid: str
    """The Function's."""
    generation: int
    """The newest ask that this instance serves."""
    instance: str
    """`Revision.instance`."""
    port: int = 0
    """Where a process of the embedded home listens."""
