"""S3 beyond its port: presigned URLs, memory, a store that is down, slow, wrong or overwrites."""

import asyncio
import contextlib
import hashlib
import os
import re
import resource
import socketserver
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from sless.adapters.s3 import S3Endpoint, S3Objects, connect_s3
from sless.errors import InvalidSetting, StorageUnavailable
from tests.fixtures.ports import free_port
from tests.fixtures.seaweed import RunningSeaweed, run_seaweed

MIB = 1024 * 1024


def key_of(name: str) -> str:
    return f"component/{uuid.uuid4()}/{name}"


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@contextlib.contextmanager
def serve(answer: bytes) -> Iterator[str]:
    """A store that takes any request and answers it so, then hangs up; its URL."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            head = b"".join(iter(self.rfile.readline, b"\r\n")).lower()
            if b"100-continue" in head:
                self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            length = re.search(rb"content-length: *(\d+)", head)
            self.rfile.read(int(length[1]) if length else 0)
            self.wfile.write(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@contextlib.contextmanager
def objects_at(url: str) -> Iterator[S3Objects]:
    endpoint = S3Endpoint(url=url, access_key="a", secret_key="b")
    objects = S3Objects(connect_s3(endpoint, tries=1), "bucket")
    try:
        yield objects
    finally:
        objects.close()


@pytest.mark.real
async def test_a_presigned_url_needs_no_credentials(s3_objects: S3Objects) -> None:
    key = key_of("grüße und 100%+.zip")
    await s3_objects.put_if_absent(key, b"content")
    url = await s3_objects.presign(key, seconds=60)
    async with httpx.AsyncClient() as client:
        assert (await client.get(url)).content == b"content"
        assert (await client.get(url.split("?", maxsplit=1)[0])).status_code == 403
        assert (await client.get(url.replace("Expires=60", "Expires=600"))).status_code == 403
        assert (await client.put(url, content=b"other")).status_code == 403


@pytest.mark.real
async def test_a_presigned_url_ends(s3_objects: S3Objects) -> None:
    key = key_of("a")
    await s3_objects.put_if_absent(key, b"content")
    url = await s3_objects.presign(key, seconds=1)
    async with httpx.AsyncClient() as client, asyncio.timeout(20):
        while (await client.get(url)).status_code != 403:  # noqa: ASYNC110  # the store's clock
            await asyncio.sleep(0.1)


@pytest.mark.real
async def test_a_large_file_is_never_in_memory(s3_objects: S3Objects, tmp_path: Path) -> None:
    size = 96 * MIB
    with (tmp_path / "up").open("wb") as file:
        file.truncate(size)
    with (tmp_path / "up").open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    key = key_of("large")
    assert await s3_objects.upload_if_absent(key, tmp_path / "up", sha256=digest)
    await s3_objects.download(key, tmp_path / "down")
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert (tmp_path / "down").stat().st_size == size
    assert grown_kib * 1024 < 40 * MIB


@pytest.mark.real
async def test_a_good_store_passes_the_probe(s3_objects: S3Objects) -> None:
    await s3_objects.probe()
    assert await s3_objects.list("probe/") == []


@pytest.mark.real
def test_a_killed_server_kept_every_object(tmp_path: Path) -> None:
    keys = [key_of(str(number)) for number in range(50)]
    with run_seaweed(tmp_path) as running, running.objects() as objects:
        for key in keys:
            asyncio.run(objects.put_if_absent(key, key.encode()))
    # It was ended by SIGKILL; now it listens on other ports.
    with run_seaweed(tmp_path) as running, running.objects() as objects:
        for key in keys:
            assert asyncio.run(objects.get(key)) == key.encode()
            assert not asyncio.run(objects.put_if_absent(key, b""))
        assert len(list((tmp_path / "data").glob("m[0-9]*"))) == 1


@pytest.mark.real
async def test_wrong_credentials_are_named(seaweed: RunningSeaweed) -> None:
    endpoint = S3Endpoint(url=seaweed.endpoint.url, access_key="wrong", secret_key="wrong")
    objects = S3Objects(connect_s3(endpoint, tries=1), seaweed.bucket)
    with pytest.raises(StorageUnavailable, match="AWS_ACCESS_KEY_ID"):
        await objects.get("a")
    with pytest.raises(StorageUnavailable, match="AWS_ACCESS_KEY_ID"):
        await objects.ensure_bucket()
    objects.close()


@pytest.mark.real
async def test_a_bucket_that_is_gone_is_no_missing_object(seaweed: RunningSeaweed) -> None:
    objects = S3Objects(connect_s3(seaweed.endpoint), "nowhere")
    with pytest.raises(StorageUnavailable, match="bucket"):
        await objects.find("a")
    objects.close()


async def test_a_store_that_overwrites_is_refused() -> None:
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
    refused = pytest.raises(InvalidSetting, match="If-None-Match")
    with serve(answer) as url, objects_at(url) as objects, refused:
        await objects.probe()


async def test_a_store_that_is_down_is_transient() -> None:
    told = pytest.raises(StorageUnavailable, match="does not answer")
    with objects_at(f"http://127.0.0.1:{free_port()}") as objects, told:
        await objects.get("a")


@pytest.mark.parametrize("status", ["500 Oops", "503 Slow Down", "429 Later", "400 What"])
async def test_whatever_a_store_answers_is_translated(status: str) -> None:
    answer = f"HTTP/1.1 {status}\r\ncontent-length: 7\r\n\r\nrubbish".encode()
    with serve(answer) as url, objects_at(url) as objects:
        for call in (objects.get("a"), objects.put_if_absent("a", b"b"), objects.list("a")):
            with pytest.raises(StorageUnavailable):
                await call


async def test_a_body_cut_short_is_no_object(tmp_path: Path) -> None:
    with (
        serve(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf") as url,
        objects_at(url) as objects,
    ):
        with pytest.raises(StorageUnavailable):
            await objects.get("a")
        with pytest.raises(StorageUnavailable):
            await objects.download("a", tmp_path / "file")
    assert names_in(tmp_path) == []


async def test_no_credentials_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    objects = S3Objects(connect_s3(S3Endpoint(url="http://127.0.0.1:1")), "bucket")
    with pytest.raises(StorageUnavailable, match="AWS_ACCESS_KEY_ID"):
        await objects.get("a")
    objects.close()
