"""What the gateway tells: which ask of a function its callers reach."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Routed:
    """The gateway took a route to this instance."""

    uid: str
    """The Function's."""
    generation: int
    """The newest ask that this instance serves."""
    instance: str
    """`Revision.instance`."""
