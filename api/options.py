"""What the API is told at its start: a part of the settings, and what only its root knows."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sless.archive.limits import ArchiveLimits
from sless.settings import Settings

Wait = Callable[[], Awaitable[object]]
"""Returns once something is so."""


async def _known() -> None:
    """Of options that are whole from the start."""


@dataclass(frozen=True, slots=True)
class ApiOptions:
    """Read once; addresses carry no slash at their end."""

    spool: Path
    """Folder for uploads on their way: what is left of a killed process is swept at the start."""
    api_url: str
    """How the outside reaches this API."""
    gateway_url: str
    """How the outside reaches functions."""
    runtimes: tuple[str, ...]
    """What an upload may name."""
    default_runtime: str
    """What an upload that names none gets."""
    missing_runtimes: Mapping[str, str] = field(default_factory=dict)
    """Offered runtimes that this machine cannot run, each with the cure."""
    runtimes_known: Wait = _known
    """Returns once `missing_runtimes` is whole."""
    runtimes_seconds: float = 30.0
    """How long the list of runtimes waits for that: a cold machine takes a few."""
    archive: ArchiveLimits = field(default_factory=ArchiveLimits)
    """What a zip may hold; its `packed_bytes` bounds the body."""
    request_bytes: int = 1024 * 1024
    """Any other body."""
    check_threads: int = 2
    """Zips inflated for their check at the same time: as many as a small machine has cores."""
    upload_idle_seconds: float = 60.0
    """An upload of which no byte arrives for so long is given up."""
    log_poll_seconds: float = 0.5
    """Between two looks for more log, shared by all readers of a build."""
    log_cache_bytes: int = 16 * 1024 * 1024
    """Log kept in memory for readers that follow."""
    keep_alive_seconds: float = 15.0
    """A silent log says something at least so often: proxies give up after 30 s or more."""
    probe_seconds: float = 2.0
    """How long each part may take to answer the readiness check."""
    warning_seconds: float = 2.0
    """How long a Function's answer waits for what its home warns of, which its status needs not."""


def api_options(
    settings: Settings,
    *,
    spool: Path,
    archive: ArchiveLimits,
    missing_runtimes: Mapping[str, str] | None = None,
    runtimes_known: Wait = _known,
) -> ApiOptions:
    """The options that follow from the product's settings."""
    return ApiOptions(
        spool=spool,
        api_url=settings.api.url.rstrip("/"),
        gateway_url=settings.gateway.url.rstrip("/"),
        runtimes=settings.runtimes.offered,
        default_runtime=settings.runtimes.default,
        # The very mapping: a root may fill it while the API serves.
        missing_runtimes={} if missing_runtimes is None else missing_runtimes,
        runtimes_known=runtimes_known,
        archive=archive,
        request_bytes=settings.limits.request_bytes,
    )
