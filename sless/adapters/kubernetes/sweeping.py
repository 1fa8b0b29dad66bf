"""Ends Jobs whose Function is gone, however it went."""

import structlog

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.connection import Object
from sless.adapters.kubernetes.render_job import PREFIX
from sless.adapters.kubernetes.resources import FUNCTIONS, JOBS, Resource

_UID = f"{PREFIX}/uid"
_PAGE = 500

log = structlog.get_logger()


async def sweep_jobs(server: ApiServer, namespace: str) -> int:
    """Deletes them with their pods; how many there were. Raises `StoreUnavailable`.

    Function workflows end the Jobs of builds under way. What they leave on purpose, ended Jobs for
    people to look at, belongs to Functions across namespaces, and so to no owner that the cluster
    would collect it with.
    """
    jobs = await _list(server, JOBS, namespace, labels=_UID)
    # Read after the Jobs: of a Function that is there none can be missing.
    present = {found["metadata"]["uid"] for found in await _list(server, FUNCTIONS)} if jobs else ()
    orphans = [job for job in jobs if job["metadata"]["labels"][_UID] not in present]
    for job in orphans:
        metadata = job["metadata"]
        await server.delete(JOBS, namespace, metadata["name"], uid=metadata["uid"])
        log.info("job of a function that is gone deleted", job=metadata["name"])
    return len(orphans)


async def _list(
    server: ApiServer, resource: Resource, namespace: str | None = None, *, labels: str = ""
) -> list[Object]:
    """Their metadata."""
    pages = server.pages(resource, namespace, size=_PAGE, labels=labels, metadata_only=True)
    return [item async for page in pages for item in page.items]
