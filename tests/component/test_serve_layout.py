"""The neighbour of a builder that serves it the base image, run as a pod runs it."""

import contextlib
import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from sless.adapters.kubernetes import serve_layout
from sless.adapters.registry.connect import connect_registry
from sless.adapters.registry.place import RegistryPlace
from sless.model.function import FunctionRef
from tests.fixtures.ports import free_port

PROGRAM = Path(serve_layout.__file__).read_text()
KIND = "application/vnd.oci.image.manifest.v1+json"
LAYER = b"a layer of some length" * 100_000
START_SECONDS = 20


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


MANIFEST = json.dumps({"mediaType": KIND, "layers": [{"digest": digest(LAYER)}]}).encode()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    layout = tmp_path_factory.mktemp("layout")
    blobs = layout / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    for content in (LAYER, MANIFEST):
        (blobs / digest(content).removeprefix("sha256:")).write_bytes(content)
    index = {"manifests": [{"mediaType": KIND, "digest": digest(MANIFEST)}]}
    (layout / "index.json").write_text(json.dumps(index))
    (layout / "secret").write_text("not served")
    port = free_port()
    command = [sys.executable, "-I", "-c", PROGRAM, str(layout), str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            wait(f"http://127.0.0.1:{port}/v2/")
            yield f"127.0.0.1:{port}"
        finally:
            process.kill()


def wait(url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx.TransportError):
            assert httpx.get(url).status_code == 200
            return
        time.sleep(0.05)
    raise TimeoutError(url)


async def test_any_name_and_tag_is_the_image(address: str) -> None:
    place = RegistryPlace(address, plain_http=frozenset({address}))
    async with connect_registry(place) as images:
        for reference in ("1.0", "latest", digest(MANIFEST)):
            assert await images.find(FunctionRef("any", "name"), reference) == digest(MANIFEST)


def test_layers_come_whole(address: str) -> None:
    url = f"http://{address}/v2/any/name/blobs/{digest(LAYER)}"
    assert httpx.get(url).content == LAYER
    head = httpx.head(url)
    assert (head.content, head.headers["content-length"]) == (b"", str(len(LAYER)))


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/v2/x/blobs/latest",
        "/v2/x/blobs/..%2f..%2fsecret",
        "/v2/x/blobs/sha256:../../secret",
        f"/v2/x/manifests/{digest(b'another')}",
        "/v2/x/tags/list",
    ],
)
def test_nothing_else_is_served(address: str, path: str) -> None:
    assert httpx.get(f"http://{address}{path}").status_code == 404
