"""The phases of an ask, in the order in which a person meets them."""

from enum import StrEnum


class Phase(StrEnum):
    """Where an ask stands."""

    PENDING = "Pending"
    PREPARING = "Preparing"
    BUILDING = "Building"
    DEPLOYING = "Deploying"
    READY = "Ready"
    FAILED = "Failed"
    CANCELLED = "Cancelled"
    SUPERSEDED = "Superseded"

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to the ask by itself."""
        return self in _ENDED


_ENDED = frozenset({Phase.READY, Phase.FAILED, Phase.CANCELLED, Phase.SUPERSEDED})
