"""Objects in S3: zips, contexts, logs, outcomes. Nothing is ever overwritten."""

from pathlib import Path
from typing import Protocol


class Objects(Protocol):
    """One bucket. Every method may raise `StorageUnavailable`."""

    async def put_if_absent(self, key: str, body: bytes) -> bool:
        """Writes once (`If-None-Match: *`); False when the key was there, body unread."""
        ...

    async def upload_if_absent(self, key: str, path: Path, *, sha256: str) -> bool:
        """Likewise from a file, streamed; the store checks the hexadecimal sha256."""
        ...

    async def copy_if_absent(self, source: str, target: str) -> bool:
        """A copy under another key; raises `ObjectMissing` without the source."""
        ...

    async def get(self, key: str) -> bytes:
        """The whole object; raises `ObjectMissing`."""
        ...

    async def find(self, key: str) -> bytes | None:
        """The whole object, or none."""
        ...

    async def download(self, key: str, path: Path) -> None:
        """The object into a file, streamed; raises `ObjectMissing`."""
        ...

    async def exists(self, key: str) -> bool:
        """Whether the key is there."""
        ...

    async def list(self, prefix: str, *, after: str = "", limit: int = 1000) -> list[str]:
        """Keys under a prefix in byte order, those after `after`, at most `limit`."""
        ...

    async def presign(self, key: str, *, seconds: int) -> str:
        """A URL that gets the object without credentials for a while."""
        ...
