"""Whether a function counts as ready, whatever answers on its port."""

import asyncio

import pytest

from sless.local.runner.probe import is_ready


async def _probe(answer: bytes) -> bool:
    """What the probe makes of a server that answers so."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        return await is_ready(server.sockets[0].getsockname()[1])


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n", id="ready"),
        pytest.param(b"HTTP/1.0 404 Not Found\r\n\r\n", id="knows no such path"),
        pytest.param(b"HTTP/1.1 500 Oh\r\n\r\n", id="cannot answer it"),
    ],
)
async def test_a_server_that_answers_is_ready(answer: bytes) -> None:
    assert await _probe(answer)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"HTTP/1.1 503 Wait\r\n\r\n", id="says that it is not"),
        pytest.param(b"", id="says nothing"),
        pytest.param(b"SSH-2.0-OpenSSH_9.6\r\n", id="speaks something else"),
        pytest.param(b"\xff\x00\n", id="speaks no text"),
        pytest.param(b"x" * 300_000, id="speaks without a line's end"),
    ],
)
async def test_anything_else_is_not(answer: bytes) -> None:
    assert not await _probe(answer)
