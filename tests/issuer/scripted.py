"""An issuer that answers what a test says, however wrong: HTTP by hand, on the loopback."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.issuer.signing import IssuerKey, jwks_of

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]
DISCOVERY = "/.well-known/openid-configuration"
KEYS = "/keys"


@dataclass(slots=True)
class ScriptedIssuer:
    """Its answers by path; without one of them, 404."""

    url: str = ""
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """Paths, in the order of requests."""
    serving: "set[asyncio.Task[Any]]" = field(default_factory=set)

    def publish(self, *keys: IssuerKey, **changes: object) -> None:
        """Answers as it should; `changes` are to its discovery document."""
        self.answers[KEYS] = content(jwks_of(keys))
        self.describe(**changes)

    def describe(self, **changes: object) -> None:
        """Changes the discovery document."""
        document = {"issuer": self.url, "jwks_uri": f"{self.url}{KEYS}", **changes}
        self.answers[DISCOVERY] = content(json.dumps(document).encode())

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request, one answer."""
        task = asyncio.current_task()
        assert task is not None
        self.serving.add(task)
        # Python 3.11's server trips over a handler that ends cancelled.
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ")[1].decode()
            self.asked.append(path)
            await self.answers.get(path, respond(404))(reader, writer)
        writer.close()
        with suppress(ConnectionError, ssl.SSLError, asyncio.CancelledError):
            await writer.wait_closed()
        self.serving.discard(task)


@asynccontextmanager
async def scripted_issuer(
    keys: Sequence[IssuerKey], *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[ScriptedIssuer]:
    """One that listens; at first it answers as it should."""
    issuer = ScriptedIssuer()
    server = await asyncio.start_server(issuer.serve, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    issuer.url = f"https://localhost:{port}" if tls else f"http://127.0.0.1:{port}"
    issuer.publish(*keys)
    try:
        yield issuer
    finally:
        server.close()
        for task in issuer.serving:
            task.cancel()
        await asyncio.gather(*issuer.serving)


def content(body: bytes, *headers: str) -> Answer:
    """200 with that body."""
    return respond(200, *headers, body=body)


def respond(code: int, *headers: str, body: bytes = b"") -> Answer:
    """One whole answer."""

    async def write(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = [
            f"HTTP/1.1 {code} Scripted",
            f"Content-Length: {len(body)}",
            "Connection: close",
            *headers,
            "",
            "",
        ]
        writer.write("\r\n".join(lines).encode() + body)
        await writer.drain()

    return write


def cut(said: bytes) -> Answer:
    """Those bytes, and the end of the connection."""

    async def write(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        await writer.drain()

    return write


async def silence(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Nothing, until the other side leaves."""
    await reader.read()


async def drip(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A byte now and then: each comes within any time limit of a single read."""
    writer.write(b"HTTP/1.1 200 Scripted\r\nContent-Length: 100000\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


@dataclass(slots=True)
class Flood:
    """Sends without end, and counts what the other side took."""

    taken: int = 0

    async def __call__(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """See above."""
        writer.write(b"HTTP/1.1 200 Scripted\r\nContent-Length: 10000000\r\n\r\n")
        for _ in range(1000):
            writer.write(b" " * 10_000)
            await writer.drain()
            self.taken += 10_000
