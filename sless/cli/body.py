"""A zip on its way to the API, with the settings that go with it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO
from uuid import uuid4

from sless.archive.pack import PackResult
from sless.cli.output import Json

_CHUNK = 256 * 1024
"""Bytes read at a time."""


@dataclass(frozen=True, slots=True)
class UploadBody:
    """A multipart body of known length: the settings, then the zip."""

    head: bytes
    zip_size: int
    sha256: str
    """Of the zip, in hexadecimal."""
    tail: bytes
    content_type: str

    @property
    def headers(self) -> dict[str, str]:
        """With length and hash: a server can refuse early, and notices what got lost."""
        length = len(self.head) + self.zip_size + len(self.tail)
        return {
            "Content-Type": self.content_type,
            "Content-Length": str(length),
            "Sless-Content-Sha256": self.sha256,
        }

    def send(self, file: BinaryIO, sent: Callable[[int, int], None]) -> Iterator[bytes]:
        """The bytes; `sent` is told how much of the zip went out, and of how much."""
        yield self.head
        done = 0
        while chunk := file.read(min(_CHUNK, self.zip_size - done)):
            yield chunk
            done += len(chunk)
            sent(done, self.zip_size)
        yield self.tail


def make_body(packed: PackResult, settings: Json) -> UploadBody:
    """The body for that zip and those settings."""
    border = uuid4().hex
    head = (
        f"--{border}\r\n"
        'Content-Disposition: form-data; name="settings"\r\n'
        "Content-Type: application/json\r\n\r\n"
        f"{json.dumps(settings)}\r\n"
        f"--{border}\r\n"
        'Content-Disposition: form-data; name="code"; filename="code.zip"\r\n'
        "Content-Type: application/zip\r\n\r\n"
    )
    return UploadBody(
        head=head.encode(),
        zip_size=packed.size,
        sha256=packed.sha256,
        tail=f"\r\n--{border}--\r\n".encode(),
        content_type=f"multipart/form-data; boundary={border}",
    )
