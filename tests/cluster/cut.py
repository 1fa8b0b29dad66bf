"""A way to an API server that a test can cut: existing connections end, or fall silent."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field


@dataclass
class Wire:
    """A TCP proxy on 127.0.0.1."""

    target: tuple[str, int]
    port: int = 0
    _up: bool = True
    _heard: asyncio.Event = field(default_factory=asyncio.Event)
    _open: set[asyncio.StreamWriter] = field(default_factory=set)

    def cut(self) -> None:
        """Ends what is open, and refuses what comes."""
        self._up = False
        for writer in self._open:
            writer.transport.abort()

    def silence(self) -> None:
        """Nothing arrives any more over what is open; what comes is refused."""
        self._up = False
        self._heard.clear()

    def mend(self) -> None:
        """New connections work; silent ones stay silent."""
        self._up = True
        self._heard = asyncio.Event()
        self._heard.set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        if not self._up:
            writer.transport.abort()
            return
        heard = self._heard
        far_reader, far_writer = await asyncio.open_connection(*self.target)
        self._open |= {writer, far_writer}
        if not self._up and heard.is_set():
            self.cut()  # once more, for what connected meanwhile
        try:
            await asyncio.gather(_pipe(reader, far_writer, heard), _pipe(far_reader, writer, heard))
        finally:
            self._open -= {writer, far_writer}


async def _pipe(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, heard: asyncio.Event
) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            await heard.wait()
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):
        writer.close()


@contextlib.asynccontextmanager
async def wire_to(host: str, port: int) -> AsyncIterator[Wire]:
    """A whole one."""
    wire = Wire((host, port))
    wire.mend()
    tasks: set[asyncio.Task[None]] = set()

    def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(wire.carry(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listening = await asyncio.start_server(carry, "127.0.0.1", 0)
    wire.port = listening.sockets[0].getsockname()[1]
    try:
        yield wire
    finally:
        listening.close()
        wire.cut()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
