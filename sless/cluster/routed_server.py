"""Tells over HTTP what this gateway routes, and whether it is ready to."""

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from sless.cluster.board import Board

WAIT_MAX_SECONDS = 60.0
"""A question that is answered later may have lost its connection unnoticed."""
_LEAVE_SECONDS = 2
"""For answers under way at the end: nobody is left waiting by then."""


def make_routed_server(board: Board, *, host: str, port: int) -> uvicorn.Server:
    """A server that is ready to `serve()`; close the board before it ends."""
    config = uvicorn.Config(
        create_routed_app(board),
        host=host,
        port=port,
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_LEAVE_SECONDS,
    )
    return uvicorn.Server(config)


def create_routed_app(board: Board) -> Starlette:
    """`GET /routed?after=VERSION&wait=SECONDS` and `GET /readyz`."""

    async def tell_routed(request: Request) -> Response:
        """What Envoy has taken, once that is another version, or after so long."""
        seconds = _seconds(request.query_params.get("wait", "0"))
        if seconds is None:
            return PlainTextResponse("wait is a number of seconds\n", status_code=400)
        after = request.query_params.get("after", "")
        taken = await board.find(after=after, seconds=min(seconds, WAIT_MAX_SECONDS))
        if taken is None:
            return PlainTextResponse("nothing is routed yet\n", status_code=503)
        return Response(taken.body, media_type="application/json")

    async def tell_ready(_request: Request) -> Response:
        """Whether Envoy would start with present routes; from then on it may."""
        if not board.written:
            return PlainTextResponse("the cluster was not read yet\n", status_code=503)
        return PlainTextResponse("ready\n")

    return Starlette(routes=[Route("/routed", tell_routed), Route("/readyz", tell_ready)])


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if seconds >= 0 else None  # nor is nan
