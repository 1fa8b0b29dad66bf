"""What a zip may hold: the API refuses by it, and the worker must not refuse by another."""

from sless.archive import ArchiveLimits
from sless.settings import LimitsSettings


def archive_limits(limits: LimitsSettings) -> ArchiveLimits:
    """As `sless.archive` takes them."""
    return ArchiveLimits(
        entries=limits.entries,
        inflated_bytes=limits.inflated_bytes,
        packed_bytes=limits.packed_bytes,
    )
