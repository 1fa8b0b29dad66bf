"""Envoy's files: written whole, renamed into place, only when changed."""

import asyncio
import re
from collections.abc import Iterable
from pathlib import Path

from sless.errors import GatewayUnavailable, InternalError
from sless.files import remove_drafts, write_atomically
from sless.gateway.admin import POLL, POLL_MAX, EnvoyAdmin, Versions
from sless.gateway.bootstrap import GatewayPaths, render_bootstrap
from sless.gateway.clusters import render_clusters
from sless.gateway.proto import Json, dump
from sless.gateway.route import Route, in_order
from sless.gateway.routes import render_routes
from sless.gateway.settings import GatewaySettings

_REJECTED = re.compile(r"update rejected: (.*)")


class GatewayFiles:
    """The folder that Envoy is configured from. One writer, who waits before writing again.

    Apply the present routes before Envoy is started: those of a former life may name ports that
    belong to somebody else by now.
    """

    def __init__(self, folder: Path, settings: GatewaySettings) -> None:
        self.paths = GatewayPaths(folder.absolute())
        self._settings = settings
        self._admin = EnvoyAdmin(self.paths.admin)
        self._routed: dict[str, Route] = {}
        self._log_read = _size(self.paths.log)

    def write_bootstrap(self) -> Path:
        """The file Envoy is started with, and empty ones to follow where none are yet.

        Raises `InvalidSetting` when the folder's path is too long for a socket in it.
        """
        bootstrap = render_bootstrap(self._settings, self.paths.folder)
        for path in (self.paths.clusters, self.paths.routes):
            path.parent.mkdir(parents=True, exist_ok=True)
            remove_drafts(path)
        _write(self.paths.bootstrap, bootstrap)
        if not (self.paths.clusters.exists() and self.paths.routes.exists()):
            self.apply(())
        return self.paths.bootstrap

    def apply(self, routes: Iterable[Route]) -> str:
        """Write what changed and return the version to wait for.

        A route never points to a missing cluster: clusters are written first, and the cluster of
        a function that is gone stays until the next call. Raises `InvalidSetting` when a function
        is named twice, and `GatewayUnavailable` when the files cannot be written.
        """
        wanted = {route.cluster: route for route in in_order(routes)}
        clusters = render_clusters((self._routed | wanted).values(), self._settings)
        table = render_routes(wanted.values())
        try:
            self._log_read = _size(self.paths.log)
            _write(self.paths.clusters, clusters)
            _write(self.paths.routes, table)
        except OSError as error:
            raise GatewayUnavailable(f"Envoy's files cannot be written: {error}.") from error
        self._routed = wanted
        return f"{clusters['version_info']}.{table['version_info']}"

    async def wait_applied(self, version: str, deadline: float) -> None:
        """Return once Envoy routes exactly that version.

        Raises `InternalError` with Envoy's own words when it refuses the files, and
        `GatewayUnavailable` when it has not taken them within `deadline` seconds.
        """
        wanted = Versions(*version.split("."))
        try:
            async with asyncio.timeout(deadline):
                pause = POLL
                while await self._find_versions() != wanted:
                    self._check_accepted()
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, POLL_MAX)
        except TimeoutError as error:
            raise GatewayUnavailable(
                f"Envoy has not taken its new routes within {deadline:g} s; see {self.paths.log}."
            ) from error

    async def _find_versions(self) -> Versions | None:
        try:
            return await self._admin.find_versions()
        except GatewayUnavailable:
            return None  # it may be starting

    def _check_accepted(self) -> None:
        # For files, Envoy tells why it refused them in its log alone.
        if not self.paths.log.exists():
            return
        with self.paths.log.open("rb") as log:
            log.seek(self._log_read)
            refusal = _REJECTED.search(log.read().decode(errors="replace"))
        if refusal:
            self._routed = {}  # nothing of what it refused may linger
            raise InternalError(f"Envoy refuses its new routes: {refusal[1]}")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _write(path: Path, message: Json) -> None:
    """Whole or not at all: Envoy follows renames, and reads what it finds then."""
    content = dump(message)
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content, durable=False)
