"""The API on a real socket: what only bytes, disconnects and a server's end can show."""

import asyncio
import hashlib
import os
import socket
import time
import zipfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from threading import Event, Thread

import httpx
import pytest

from api.server import ApiServer, make_server
from tests.component.api.rig import PATH, ApiRig, make_zip, reason_of
from tests.fakes.objects import MemoryObjects
from tests.fixtures.waiting import until

MIB = 1024 * 1024
LARGE = 128 * MIB
FLAT = 48 * MIB
"""What a large upload may add to the process, client included: far below the upload."""


@asynccontextmanager
async def serving(rig: ApiRig) -> AsyncIterator[tuple[ApiServer, int]]:
    server = make_server(rig.app, port=0, drain_seconds=2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        task = asyncio.create_task(server.serve([listener]))

        async def started() -> bool:
            return server.started

        await until(started)
        try:
            yield server, listener.getsockname()[1]
        finally:
            server.should_exit = True
            await asyncio.wait_for(task, 20)


@pytest.fixture
async def port(rig: ApiRig) -> AsyncIterator[int]:
    async with serving(rig) as (_, port):
        yield port


def head(rig: ApiRig, *lines: str, path: str = f"{PATH}/code", token: bool = True) -> bytes:
    own = ["Host: api.test", *([f"Authorization: Bearer {rig.token()}"] if token else [])]
    return "\r\n".join([f"PUT {path} HTTP/1.1", *own, *lines, "", ""]).encode()


@asynccontextmanager
async def connected(
    port: int,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def talk(port: int, *parts: bytes) -> bytes:
    """Sends, and reads one answer."""
    async with connected(port) as (reader, writer):
        for part in parts:
            writer.write(part)
            await writer.drain()
        return await read_answer(reader)


async def read_answer(reader: asyncio.StreamReader) -> bytes:
    """One whole answer, by its Content-Length."""
    start = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
    if start.startswith(b"HTTP/1.1 100"):
        return start + await read_answer(reader)
    lengths = [line for line in start.lower().split(b"\r\n") if line.startswith(b"content-length")]
    length = int(lengths[0].split(b":")[1]) if lengths else 0
    return start + await asyncio.wait_for(reader.readexactly(length), 10)


async def nothing_spooled(rig: ApiRig) -> None:
    async def gone() -> bool:
        return rig.spooled() == []

    await until(gone)


async def something_spooled(rig: ApiRig) -> None:
    async def there() -> bool:
        return rig.spooled() != []

    await until(there)


async def test_a_client_that_leaves_in_mid_upload_leaves_nothing(rig: ApiRig, port: int) -> None:
    async with connected(port) as (_, writer):
        writer.write(head(rig, "Content-Length: 10000000") + b"PK" * 100_000)
        await writer.drain()
        await something_spooled(rig)
        writer.close()
        await nothing_spooled(rig)
        assert rig.objects.content == {}
        assert await rig.functions.find("default", "hello") is None


async def test_a_client_that_leaves_once_all_is_sent_has_asked(rig: ApiRig) -> None:
    reached, gate = asyncio.Event(), asyncio.Event()

    class Slow(MemoryObjects):
        async def upload_if_absent(self, key: str, path: Path, *, sha256: str) -> bool:
            reached.set()
            await gate.wait()
            return await super().upload_if_absent(key, path, sha256=sha256)

    rig.objects = Slow()
    rig.restart()
    async with serving(rig) as (_, port), connected(port) as (_, writer):
        writer.write(head(rig, f"Content-Length: {len(make_zip())}") + make_zip())
        await writer.drain()
        await asyncio.wait_for(reached.wait(), 10)
        writer.close()
        gate.set()

        async def asked() -> bool:
            return len(rig.runs.looks) == 1

        await until(asked)
    assert (await rig.stored()).function.generation == 1


async def test_a_length_that_is_too_small_is_no_way_in(rig: ApiRig, port: int) -> None:
    zipped = make_zip()
    async with connected(port) as (reader, writer):
        writer.write(head(rig, f"Content-Length: {len(zipped) - 10}") + zipped)
        assert b"ArchiveTruncated" in await read_answer(reader)
        assert rig.objects.content == {}


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 5", "Content-Length: 6"),
        ("Content-Length: -1",),
        ("Content-Length: x",),
        ("Content-Length : 5",),
        ("Transfer-Encoding: gzip",),
        ("Transfer-Encoding: chunked, chunked",),
    ],
)
async def test_a_body_of_unclear_length_is_refused(
    rig: ApiRig, port: int, lines: tuple[str, ...]
) -> None:
    answer = await talk(port, head(rig, *lines) + b"PK\x03\x04")
    assert answer.split(b" ")[1] in {b"400", b"501"}
    assert rig.objects.content == {}
    assert rig.spooled() == []


async def test_whoever_waits_for_100_is_told_to_go_on(rig: ApiRig, port: int) -> None:
    async with connected(port) as (reader, writer):
        writer.write(head(rig, f"Content-Length: {len(make_zip())}", "Expect: 100-continue"))
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
        writer.write(make_zip())
        assert (await read_answer(reader)).startswith(b"HTTP/1.1 202 ")


@pytest.mark.parametrize(
    ("length", "token", "status"), [(10**12, True, b"413"), (100, False, b"401")]
)
async def test_whoever_waits_for_100_in_vain_sends_no_body(
    rig: ApiRig, port: int, length: int, *, token: bool, status: bytes
) -> None:
    lines = (f"Content-Length: {length}", "Expect: 100-continue")
    answer = await talk(port, head(rig, *lines, token=token))
    assert answer.startswith(b"HTTP/1.1 " + status)


async def test_a_body_that_is_refused_while_it_is_sent_still_gets_its_answer(
    rig: ApiRig, port: int
) -> None:
    async def body() -> AsyncIterator[bytes]:
        for _ in range(64):
            yield bytes(MIB)

    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {rig.token()}"}
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers) as client:
        response = await client.put(f"{PATH}/code", content=body())
        assert reason_of(response, 415) == "ContentTypeUnsupported"
        assert (await client.get("/healthz")).status_code == 200


def chunked(body: bytes, *trailers: str) -> bytes:
    tail = "".join(f"{line}\r\n" for line in trailers).encode()
    return f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n" + tail + b"\r\n"


async def test_a_token_in_a_trailer_is_none(rig: ApiRig, port: int) -> None:
    request = head(rig, "Transfer-Encoding: chunked", token=False)
    body = chunked(make_zip(), f"Authorization: Bearer {rig.token()}")
    assert (await talk(port, request + body)).startswith(b"HTTP/1.1 401 ")


async def test_a_chunked_upload_may_have_trailers(rig: ApiRig, port: int) -> None:
    request = head(rig, "Transfer-Encoding: chunked", "Trailer: X-End")
    answer = await talk(port, request + chunked(make_zip(), "X-End: 1"))
    assert answer.startswith(b"HTTP/1.1 202 ")


async def test_a_body_that_stalls_is_given_up(rig: ApiRig) -> None:
    rig.restart(upload_idle_seconds=0.2)
    async with serving(rig) as (_, port):
        answer = await talk(port, head(rig, "Content-Length: 100") + b"PK")
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"RequestStalled" in answer
    assert rig.spooled() == []


class Forgetful(MemoryObjects):
    """Notes what is uploaded without keeping it, so that memory tells of the API alone."""

    def __init__(self) -> None:
        super().__init__()
        self.uploaded: dict[str, tuple[int, str]] = {}

    async def upload_if_absent(self, key: str, path: Path, *, sha256: str) -> bool:
        size = await asyncio.to_thread(os.path.getsize, path)
        self.uploaded[key] = (size, sha256)
        return True


def resident() -> int:
    """Bytes of this process in memory."""
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def watching_memory() -> Iterator[list[int]]:
    """The most that was added to this process meanwhile, in bytes, as the list's one item."""
    before, most, done = resident(), [0], Event()

    def watch() -> None:
        while not done.wait(0.005):
            most[0] = max(most[0], resident() - before)

    thread = Thread(target=watch)
    thread.start()
    try:
        yield most
    finally:
        done.set()
        thread.join()


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large.zip"
    with (
        zipfile.ZipFile(path, "w") as archive,
        archive.open(zipfile.ZipInfo("data.bin"), "w") as entry,
    ):
        for _ in range(LARGE // MIB):
            entry.write(bytes(MIB))
    return path


async def pieces_of(path: Path, before: bytes = b"", after: bytes = b"") -> AsyncIterator[bytes]:
    yield before
    with path.open("rb") as file:
        while piece := file.read(64 * 1024):
            yield piece
    yield after


@pytest.mark.parametrize("form", [False, True])
async def test_memory_stays_flat_however_large_the_upload(
    rig: ApiRig, large: Path, *, form: bool
) -> None:
    objects = Forgetful()
    rig.objects = objects
    rig.restart()
    headers = {"Authorization": f"Bearer {rig.token()}"}
    content = pieces_of(large)
    if form:
        headers["Content-Type"] = "multipart/form-data; boundary=edge"
        begin = b'--edge\r\nContent-Disposition: form-data; name="code"\r\n\r\n'
        content = pieces_of(large, begin, b"\r\n--edge--\r\n")
    async with serving(rig) as (_, port):
        address = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=address, headers=headers, timeout=120) as client:
            await client.put(f"{PATH}/code", content=make_zip())
            with watching_memory() as most:
                response = await client.put(f"{PATH}/code", content=content)
    assert response.status_code == 202
    with large.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        size = file.tell()
    assert objects.uploaded[response.json()["s3Key"]] == (size, sha256)
    assert most[0] < FLAT, f"{most[0] / MIB:.0f} MiB"


async def test_the_loop_stays_free_while_a_zip_is_checked(
    rig: ApiRig, port: int, large: Path
) -> None:
    rig.objects.content = {}
    headers = {"Authorization": f"Bearer {rig.token()}", "Sless-Content-SHA256": "0" * 64}
    address = f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=120) as client:
        upload = asyncio.create_task(client.put(f"{PATH}/code", content=pieces_of(large)))
        slowest = 0.0
        while not upload.done():
            began = time.perf_counter()
            assert (await client.get("/healthz")).status_code == 200
            slowest = max(slowest, time.perf_counter() - began)
        assert reason_of(await upload, 400) == "ChecksumMismatch"
    assert slowest < 1


# followers


def log_head(rig: ApiRig, build: str) -> bytes:
    path = f"{PATH}/builds/{build}/log?follow=true"
    lines = [f"GET {path} HTTP/1.1", "Host: api.test", f"Authorization: Bearer {rig.token()}"]
    return "\r\n".join([*lines, "", ""]).encode()


async def test_events_arrive_when_they_are_written(rig: ApiRig, port: int) -> None:
    build = (await rig.upload())["build"]
    async with connected(port) as (reader, writer):
        writer.write(log_head(rig, build))
        for number in range(3):
            await rig.write_log(build, f"line {number}\n".encode(), start=7 * number)
            await asyncio.wait_for(reader.readuntil(f"data: line {number}\n".encode()), 10)
        await rig.answer()
        await asyncio.wait_for(reader.readuntil(b"event: end\n"), 10)


async def test_a_follower_that_leaves_frees_its_place(rig: ApiRig, port: int) -> None:
    build = (await rig.upload())["build"]
    async with connected(port) as (reader, writer):
        writer.write(log_head(rig, build))
        await reader.readuntil(b"retry: ")
        feeds = rig.app.state.services.feeds

        async def followed() -> bool:
            return bool(feeds._open)

        async def free() -> bool:
            return not feeds._open

        await until(followed)
        writer.close()
        await until(free)


async def test_a_reader_that_does_not_read_holds_nobody_up(rig: ApiRig, port: int) -> None:
    build = (await rig.upload())["build"]
    line = b"x" * 999 + b"\n"
    async with connected(port) as (_, stuck):
        stuck.write(log_head(rig, build))
        stuck.transport.pause_reading()  # type: ignore[attr-defined]  # a real transport has it
        for number in range(64):
            await rig.write_log(build, line * 256, start=number * 256_000)
        await rig.answer()
        headers = {"Authorization": f"Bearer {rig.token()}"}
        address = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=address, headers=headers, timeout=30) as client:
            params = {"follow": "true"}
            response = await client.get(f"{PATH}/builds/{build}/log", params=params)
    assert response.text.count("x" * 999) == 64 * 256
    assert "event: end" in response.text


async def test_a_server_that_ends_does_not_wait_for_followers(rig: ApiRig) -> None:
    async with serving(rig) as (server, port):
        build = (await rig.upload())["build"]
        async with connected(port) as (reader, writer):
            writer.write(log_head(rig, build))
            await reader.readuntil(b"retry: ")
            began = time.perf_counter()
            server.should_exit = True
            rest = await asyncio.wait_for(reader.read(), 10)
            assert time.perf_counter() - began < 1.5
            assert b"event: end" not in rest
            assert rest.endswith(b"0\r\n\r\n")
