"""Beside a builder that takes images from registries only: the base image, on loopback.

Runs as `python3 -I -c <this text> LAYOUT PORT` for as long as the builder does: it imports nothing
of ours. It serves one image of an OCI layout under every name, since what to ask for was settled
before. It has no password, and writes nothing.
"""

import json
import re
import signal
import sys
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

CHUNK_BYTES = 1024 * 1024
_PATH = re.compile(r"/v2/.+/(?P<kind>manifests|blobs)/(?P<reference>[^/]+)")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class Registry(BaseHTTPRequestHandler):
    """As much of the distribution API as a pull needs."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *arguments: Any, layout: Path) -> None:
        self.layout = layout
        super().__init__(*arguments)

    def do_GET(self) -> None:
        """Manifests by tag or digest, blobs by digest."""
        found = _PATH.fullmatch(self.path)
        if self.path == "/v2/":
            self._head(200, 0)
        elif found is None:
            self._head(404, 0)
        elif found["kind"] == "manifests":
            self._serve_manifest(found["reference"])
        else:
            self._serve_blob(found["reference"], "application/octet-stream")

    do_HEAD = do_GET  # noqa: N815 - the library's name

    def _serve_manifest(self, reference: str) -> None:
        index = json.loads((self.layout / "index.json").read_text(encoding="utf-8"))
        image = index["manifests"][0]
        digest = reference if _DIGEST.fullmatch(reference) else image["digest"]
        self._serve_blob(digest, image["mediaType"])

    def _serve_blob(self, digest: str, media_type: str) -> None:
        path = self.layout / "blobs" / "sha256" / digest.replace("sha256:", "")
        if not _DIGEST.fullmatch(digest) or not path.is_file():
            self._head(404, 0)
            return
        self._head(200, path.stat().st_size, media_type, digest)
        if self.command == "GET":
            with path.open("rb") as file:
                while chunk := file.read(CHUNK_BYTES):
                    self.wfile.write(chunk)

    def _head(self, status: int, length: int, media_type: str = "", digest: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        if digest:
            self.send_header("Content-Type", media_type)
            self.send_header("Docker-Content-Digest", digest)
        self.end_headers()


def main() -> None:
    """Serves until it is ended."""
    # The first process of a container is not ended by a signal that it does not handle.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    layout, port = sys.argv[1:]
    handler = partial(Registry, layout=Path(layout))
    with ThreadingHTTPServer(("127.0.0.1", int(port)), handler) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
