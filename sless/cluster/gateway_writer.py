"""The gateway's writer: has Envoy route what is ready in the cluster, and tells what it took."""

import asyncio
from functools import partial

import structlog

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.endpoint_slices import EndpointSlice, find_slice
from sless.adapters.kubernetes.follow import follow
from sless.adapters.kubernetes.mirror import Mirror
from sless.adapters.kubernetes.render_deployment import FUNCTION_LABEL
from sless.adapters.kubernetes.resources import ENDPOINT_SLICES
from sless.cluster.board import Board, render_taken
from sless.cluster.routing import HTTP_PORT, compute_routes
from sless.errors import GatewayUnavailable, InternalError
from sless.gateway.files import GatewayFiles
from sless.gateway.route import Route

_APPLY_SECONDS = 10.0
"""Envoy takes 10 000 functions in 3 s; what takes longer, or finds no Envoy, is tried again."""
_RETRY_SECONDS = 1.0
_log = structlog.get_logger()


class GatewayWriter:
    """Writes one gateway's routes; what changes while Envoy takes some is taken together next.

    Nothing is written before all was listed once, and whatever the API server does after that, the
    routes stay as they are until it tells of others.
    """

    def __init__(self, files: GatewayFiles, board: Board) -> None:
        self._files = files
        self._board = board
        self._taken: tuple[Route, ...] | None = None
        self._woken = asyncio.Event()
        self._slices: Mirror[EndpointSlice] = Mirror(
            read=partial(find_slice, port=HTTP_PORT), changed=lambda _slice: self._woken.set()
        )

    async def run(self, server: ApiServer) -> None:
        """Until cancelled; raises `InvalidSetting` for a folder that Envoy could not use."""
        following = follow(
            server, ENDPOINT_SLICES, self._slices, labels=FUNCTION_LABEL, told=self._woken.set
        )
        tasks = [asyncio.create_task(each) for each in (following, self._write())]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def _write(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            await self._try_reconcile()

    async def _try_reconcile(self) -> None:
        try:
            await self.reconcile()
        except (GatewayUnavailable, InternalError) as error:
            _log.warning("routes are late", reason=error.reason, error=error.message)
            self._taken = None
            await asyncio.sleep(_RETRY_SECONDS)
            self._woken.set()

    async def reconcile(self) -> None:
        """Has Envoy route what is ready now, and tells that it does.

        Raises `GatewayUnavailable`, or `InternalError` when Envoy refuses.
        """
        if not self._slices.listed:
            return
        routes = compute_routes(self._slices.items().values())
        if routes == self._taken:
            return
        version = await asyncio.to_thread(self._files.apply, routes)
        if not self._board.written:
            # Envoy starts when it sees this one: with routes, not with an empty table.
            self._files.write_bootstrap()
            self._board.written = True
        await self._files.wait_applied(version, _APPLY_SECONDS)
        self._taken = routes
        self._board.tell(render_taken(version, routes))
