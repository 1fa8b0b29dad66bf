"""uvicorn, set up for a function behind a gateway.

h11 rather than httptools: the latter puts a body's trailers among the request's headers.
"""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import Server

from .failure import StartFailed
from .front import Front

KEEP_ALIVE_SECONDS = 620
"""Longer than a gateway keeps an idle connection, so that it is never closed under a request."""
HEADERS_MAX = 64 * 1024
"""Bytes of a request's head: what Envoy lets through by default, and a little more."""
LAST_SECONDS = 2.0
"""After the drain: for what the function does on shutdown, before the process ends anyway."""
TICK_SECONDS = 1.0
"""How old a Date header may be: its own resolution."""


class FunctionServer(Server):
    """A server that drains on SIGTERM and then leaves in peace."""

    def __init__(self, front: Front, *, drain_seconds: float) -> None:
        super().__init__(load_config(front, drain_seconds=drain_seconds))
        self._front = front
        self._drain_seconds = drain_seconds
        self._told = asyncio.Event()

    async def main_loop(self) -> None:
        """Wakes once a second for the Date header, where uvicorn looks ten times for an end.

        There may be hundreds of idle functions.
        """
        while not await self.on_tick(0):
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._told.wait(), TICK_SECONDS)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Exits with 0 once drained, where uvicorn would raise the signal again."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._drain)
        yield

    def _drain(self) -> None:
        if self._front.draining:
            return
        self._front.draining = True
        self.should_exit = True
        self._told.set()
        _leave_after(self._drain_seconds + LAST_SECONDS)


def load_config(front: Front, *, drain_seconds: float) -> Config:
    """The configuration, complete: nothing of uvicorn is imported after this."""
    config = Config(
        front,
        interface="asgi3",
        http=H11Protocol,
        ws=WebSocketsSansIOProtocol,
        lifespan="auto",
        log_config=None,
        log_level=logging.CRITICAL + 1,  # the front says what there is to say
        access_log=False,
        proxy_headers=False,
        server_header=False,
        workers=1,  # or WEB_CONCURRENCY of the function's environment is read
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=drain_seconds,  # type: ignore[arg-type] # passed to wait_for
        h11_max_incomplete_event_size=HEADERS_MAX,
    )
    config.load()
    return config


def serve(server: FunctionServer, front: Front, listener: socket.socket) -> None:
    """Serves until drained; raises `StartFailed` if the app does not start."""
    with contextlib.suppress(SystemExit):
        asyncio.run(server.serve(sockets=[listener]))
    _leave_after(LAST_SECONDS)
    if front.startup_error is not None and not server.started:
        raise StartFailed("FunctionCrashed", f"The app's startup failed: {front.startup_error}")


def open_listener(host: str, port: int) -> socket.socket:
    """A bound socket that does not listen yet; raises `StartFailed`.

    With TCP left to be guessed, asyncio would not set TCP_NODELAY on its connections, and each
    answer of two writes would wait 40 ms for the caller's acknowledgement.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        message = f"Port {port} on {host} cannot be had: {error.strerror}."
        raise StartFailed("FunctionCrashed", message) from error
    return listener


def _leave_after(seconds: float) -> None:
    """Ends the process then, whatever threads of the function still run."""
    last = threading.Timer(seconds, _leave)
    last.daemon = True
    last.start()


def _leave() -> None:
    print("sless: still busy after the drain; leaving.", file=sys.stderr, flush=True)  # noqa: T201 - the log
    os._exit(0)
