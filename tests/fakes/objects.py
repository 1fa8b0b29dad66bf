"""S3 in memory: `Objects` for tests that need no real store. The contract suite runs on it too."""

import asyncio
import builtins
import hashlib
from pathlib import Path
from urllib.parse import quote

from sless.errors import ChecksumMismatch, ObjectMissing, StorageUnavailable


class MemoryObjects:
    """One bucket; `unavailable` makes every call fail while it is set."""

    def __init__(self) -> None:
        self.unavailable = False
        self.content: dict[str, bytes] = {}
        """By key. A test may change it by hand, as a person with S3's console could."""

    async def put_if_absent(self, key: str, body: bytes) -> bool:
        """See the port."""
        self._check_available()
        if key in self.content:
            return False
        self.content[key] = bytes(body)
        return True

    async def upload_if_absent(self, key: str, path: Path, *, sha256: str) -> bool:
        """See the port."""
        self._check_available()
        if key in self.content:
            return False
        body = await asyncio.to_thread(path.read_bytes)
        if hashlib.sha256(body).hexdigest() != sha256:
            raise ChecksumMismatch(f"{path.name} is not what its sha256 says.")
        return await self.put_if_absent(key, body)

    async def copy_if_absent(self, source: str, target: str) -> bool:
        """See the port."""
        return await self.put_if_absent(target, await self.get(source))

    async def get(self, key: str) -> bytes:
        """See the port."""
        body = await self.find(key)
        if body is None:
            raise ObjectMissing(f"There is no {key} in the store.")
        return body

    async def find(self, key: str) -> bytes | None:
        """See the port."""
        self._check_available()
        return self.content.get(key)

    async def download(self, key: str, path: Path) -> None:
        """See the port."""
        await asyncio.to_thread(path.write_bytes, await self.get(key))

    async def exists(self, key: str) -> bool:
        """See the port."""
        return await self.find(key) is not None

    async def list(
        self, prefix: str, *, after: str = "", limit: int = 1000
    ) -> "builtins.list[str]":
        """See the port."""
        self._check_available()
        found = (
            key for key in self.content if key.startswith(prefix) and key.encode() > after.encode()
        )
        return sorted(found, key=str.encode)[:limit]

    async def presign(self, key: str, *, seconds: int) -> str:
        """A URL that nothing serves."""
        self._check_available()
        return f"memory:///{quote(key)}?seconds={seconds}"

    def _check_available(self) -> None:
        if self.unavailable:
            raise StorageUnavailable("The store in memory is down.")
