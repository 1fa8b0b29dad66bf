"""The server of the API: uvicorn with h11, which keeps trailers apart from headers."""

import socket

import uvicorn
from fastapi import FastAPI

from api.services import Services


class ApiServer(uvicorn.Server):
    """Has the followers of logs leave first, so that going takes no longer than the requests."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends what would never end by itself, then the rest."""
        app = self.config.app
        if isinstance(app, FastAPI):
            services: Services = app.state.services
            services.feeds.close()
        await super().shutdown(sockets)


def make_server(
    app: FastAPI, *, host: str = "127.0.0.1", port: int = 8081, drain_seconds: float = 10.0
) -> ApiServer:
    """A server that is ready to `serve()`; requests under way at its end have `drain_seconds`."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        # httptools would put chunked trailers among the headers: a late Authorization counted.
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=max(1, round(drain_seconds)),
    )
    return ApiServer(config)
