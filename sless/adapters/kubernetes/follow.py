"""Keeps a mirror in step with an API server: a list each minute, and a watch in between."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import structlog

from sless.adapters.kubernetes.client import ApiServer, Change
from sless.adapters.kubernetes.mirror import Key, Mirror, key_of
from sless.adapters.kubernetes.resources import Resource
from sless.errors import SlessError, VersionConflict

RESYNC_SECONDS = 60.0
"""Between lists: what no watch told, such as a deletion while nobody watched, is found then."""
RETRY_SECONDS = 1.0
"""Before an API server that failed us is asked again."""
PAGE = 250
"""Objects in one page of a list, so that a large cluster is never in memory as text at once."""

log = structlog.get_logger()


async def follow(  # noqa: PLR0913  # what is followed has this many sides, all named
    server: ApiServer,
    resource: Resource,
    mirror: Mirror[Any],
    *,
    labels: str = "",
    namespace: str | None = None,
    watch: bool = True,
    told: Callable[[], None] | None = None,
) -> None:
    """Until cancelled; whatever the API server does meanwhile is waited out.

    Args:
        server: With the right to list and watch.
        resource: The kind.
        mirror: Takes what is seen; what it has stays while the server is away.
        labels: Selects objects at the server.
        namespace: The only one, or all.
        watch: Without it, somebody else tells the mirror what happens between lists.
        told: Called after each whole list.
    """
    follower = _Follower(server, resource, mirror, labels=labels, namespace=namespace)
    while True:
        try:
            if follower.must_list():
                await follower.list()
                if told is not None:
                    told()
            await (follower.watch() if watch else follower.wait())
            continue
        except VersionConflict:
            follower.since = ""  # The server forgot that version.
        except SlessError as error:
            log.warning(
                "objects not read",
                resource=str(resource),
                reason=error.reason,
                message=error.message,
            )
        await asyncio.sleep(RETRY_SECONDS)


@dataclass(slots=True)
class _Follower:
    server: ApiServer
    resource: Resource
    mirror: Mirror[Any]
    labels: str
    namespace: str | None
    since: str = ""
    """Up to which version everything is known; empty before a list."""
    _due: float = 0.0

    def must_list(self) -> bool:
        return not self.since or time.monotonic() >= self._due

    async def list(self) -> None:
        """Page by page."""
        seen: set[Key] = set()
        version = ""
        async for page in self.server.pages(
            self.resource, self.namespace, size=PAGE, labels=self.labels
        ):
            if not version:
                version = page.resource_version
                self.mirror.start_list(version=int(version))
            for item in page.items:
                self.mirror.put(item)
                seen.add(key_of(item))
        self.mirror.end_list(seen, version=int(version))
        self.since, self._due = version, time.monotonic() + RESYNC_SECONDS

    async def watch(self) -> None:
        """For as long as the server goes on with one answer."""
        begun = time.monotonic()
        changes = self.server.watch(
            self.resource, self.namespace, since=self.since, labels=self.labels
        )
        async for change in changes:
            self._take(change)
        if time.monotonic() - begun < RETRY_SECONDS:
            await asyncio.sleep(RETRY_SECONDS)  # Whatever ends it at once will do so again.

    async def wait(self) -> None:
        await asyncio.sleep(max(0.0, self._due - time.monotonic()))

    def _take(self, change: Change) -> None:
        if change.kind == "DELETED":
            self.mirror.drop(change.object)
        elif change.kind != "BOOKMARK":
            self.mirror.put(change.object)
        self.since = change.object["metadata"]["resourceVersion"]
