"""Objects in any S3 that honours `If-None-Match: *` and checks SHA-256.

Every object is written by one PUT, never in parts: a PUT takes 5 GiB and uploads are far smaller,
and not every store makes the end of a multi-part upload conditional.
"""

import asyncio
import base64
import builtins
import contextlib
import errno
import hashlib
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from botocore.exceptions import ClientError

from sless.adapters.s3_errors import MISSING, RACING, TAKEN, error_code, translated
from sless.errors import (
    ChecksumMismatch,
    DiskFull,
    InvalidSetting,
    ObjectMissing,
    StorageUnavailable,
)

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.literals import BucketLocationConstraintType

P = ParamSpec("P")
T = TypeVar("T")

CONNECT_SECONDS = 5
READ_SECONDS = 60
"""Between two packets: a store may hash a large upload before it answers."""
TRIES = 4
THREADS = 16
"""Calls at once, and connections kept."""
PAGE = 1000
"""Keys in one answer: S3's limit."""
CHUNK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Endpoint:
    """Where a store is, and how it is talked to."""

    url: str = ""
    """Empty for AWS itself."""
    region: str = "us-east-1"
    """Requests are signed for it."""
    path_style: bool = True
    """Bucket in the path instead of the host name, as most stores but AWS need."""
    access_key: str | None = field(default=None, repr=False)
    """None, like the secret, for what the environment and AWS's own files say."""
    secret_key: str | None = field(default=None, repr=False)


def connect_s3(endpoint: S3Endpoint, *, tries: int = TRIES) -> "S3Client":
    """A client, without a call yet; each of its calls is tried so many times."""
    import boto3
    from botocore.config import Config

    config = Config(
        region_name=endpoint.region,
        signature_version="s3v4",  # or presigned URLs would carry the old signature
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"mode": "standard", "total_max_attempts": tries},
        max_pool_connections=THREADS,
        s3={"addressing_style": "path" if endpoint.path_style else "virtual"},
        # Ours are SHA-256, told with each PUT; trailing CRCs break stores that do not know them.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    session = boto3.session.Session(
        aws_access_key_id=endpoint.access_key, aws_secret_access_key=endpoint.secret_key
    )
    return session.client("s3", endpoint_url=endpoint.url or None, config=config)


class S3Objects:
    """The port `Objects` on one bucket.

    Keys come in byte order as long as they lie in one folder, or at one depth in folders none of
    whose names starts with another's: stores made of folders sort `a/b` before `a-b`.
    """

    def __init__(self, client: "S3Client", bucket: str) -> None:
        self._client = client
        self._bucket = bucket
        self._threads = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="s3")

    async def ensure_bucket(self) -> None:
        """Makes the bucket unless it is there."""
        await self._run(self._bucket, self._ensure_bucket)

    async def probe(self) -> None:
        """Refuses, with `InvalidSetting`, a store that would overwrite what is written once."""
        key = f"probe/{uuid.uuid4()}"
        try:
            first = await self.put_if_absent(key, b"first")
            if not first or await self.put_if_absent(key, b"second"):
                raise InvalidSetting(
                    f"The S3 store at {self._client.meta.endpoint_url} ignores `If-None-Match: *`, "
                    "so that uploads could be overwritten: use one that honours it."
                )
            await self._check_checksums(f"{key}-checksum")
        finally:
            await self._run(key, self._client.delete_object, Bucket=self._bucket, Key=key)

    async def put_if_absent(self, key: str, body: bytes) -> bool:
        """Writes once; False when the key was there.

        A try whose answer was lost may have written it: False then means our own body.
        """
        digest = hashlib.sha256(body).digest()
        return await self._run(key, self._put_if_absent, key, digest, lambda: body)

    async def upload_if_absent(self, key: str, path: Path, *, sha256: str) -> bool:
        """Likewise from a file, streamed; raises `ChecksumMismatch` when its bytes are others."""
        # Asked first, since a store may take the whole body before it says that the key is there.
        if await self.exists(key):
            return False
        return await self._run(key, self._upload, key, path, bytes.fromhex(sha256))

    async def copy_if_absent(self, source: str, target: str) -> bool:
        """A copy under another key, made by the store; raises `ObjectMissing`."""
        return await self._run(source, self._copy, source, target)

    async def get(self, key: str) -> bytes:
        """The whole object; raises `ObjectMissing`."""
        return await self._run(key, self._get, key)

    async def find(self, key: str) -> bytes | None:
        """The whole object, or none."""
        try:
            return await self.get(key)
        except ObjectMissing:
            return None

    async def download(self, key: str, path: Path) -> None:
        """The object into a file, streamed, which is there whole or not at all."""
        await self._run(key, self._download, key, path)

    async def exists(self, key: str) -> bool:
        """Whether the key is there."""
        try:
            await self._run(key, self._client.head_object, Bucket=self._bucket, Key=key)
        except ObjectMissing:
            return False
        return True

    async def list(self, prefix: str, *, after: str = "", limit: int = PAGE) -> list[str]:
        """Keys under a prefix, those after `after`, at most `limit`."""
        return await self._run(prefix, self._list, prefix, after=after, limit=limit)

    async def presign(self, key: str, *, seconds: int) -> str:
        """A URL that gets the object without credentials for a while."""
        params = {"Bucket": self._bucket, "Key": key}
        sign = self._client.generate_presigned_url
        return await self._run(key, sign, "get_object", Params=params, ExpiresIn=seconds)

    def close(self) -> None:
        """Lets the threads and connections go once they have finished what they are at."""
        self._threads.shutdown(wait=True)
        self._client.close()

    async def _run(self, about: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        call = partial(work, *args, **kwargs)
        return await loop.run_in_executor(self._threads, self._translating, about, call)

    def _translating(self, about: str, call: Callable[[], T]) -> T:
        with translated(self._client.meta.endpoint_url, about):
            return call()

    def _ensure_bucket(self) -> None:
        try:
            self._client.head_bucket(Bucket=self._bucket)
        except ClientError as error:
            if error_code(error) not in MISSING:
                raise
            with contextlib.suppress(self._client.exceptions.BucketAlreadyOwnedByYou):
                self._create_bucket()

    def _create_bucket(self) -> None:
        region = self._client.meta.region_name
        if region == "us-east-1":  # the one region that must not be named
            self._client.create_bucket(Bucket=self._bucket)
        else:
            where: BucketLocationConstraintType = region  # type: ignore[assignment]
            self._client.create_bucket(
                Bucket=self._bucket, CreateBucketConfiguration={"LocationConstraint": where}
            )

    async def _check_checksums(self, key: str) -> None:
        wrong = hashlib.sha256(b"other").digest()
        try:
            await self._run(key, self._put_if_absent, key, wrong, lambda: b"probe")
        except ChecksumMismatch:
            return
        raise InvalidSetting(
            f"The S3 store at {self._client.meta.endpoint_url} does not check SHA-256, so that a "
            "damaged upload would be kept: use one that does."
        )

    def _put_if_absent(self, key: str, digest: bytes, body: Callable[[], Any]) -> bool:
        def put() -> object:
            return self._client.put_object(
                Bucket=self._bucket,
                Key=key,
                Body=body(),
                IfNoneMatch="*",
                ChecksumSHA256=base64.b64encode(digest).decode(),
            )

        return _first(put)

    def _upload(self, key: str, path: Path, digest: bytes) -> bool:
        with path.open("rb") as file:

            def rewound() -> object:
                file.seek(0)
                return file

            return self._put_if_absent(key, digest, rewound)

    def _copy(self, source: str, target: str) -> bool:
        def copy() -> object:
            return self._client.copy_object(
                Bucket=self._bucket,
                Key=target,
                CopySource={"Bucket": self._bucket, "Key": source},
                IfNoneMatch="*",
            )

        return _first(copy)

    def _get(self, key: str) -> bytes:
        return self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()

    def _download(self, key: str, path: Path) -> None:
        body = self._client.get_object(Bucket=self._bucket, Key=key)["Body"]
        part = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
        try:
            with part.open("wb") as file:
                for chunk in body.iter_chunks(CHUNK_BYTES):
                    file.write(chunk)
            part.replace(path)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise DiskFull(f"{path.parent} has no room for {key}: free some space.") from error
        finally:
            part.unlink(missing_ok=True)

    def _list(self, prefix: str, *, after: str, limit: int) -> "builtins.list[str]":
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket,
            Prefix=prefix,
            StartAfter=after,
            PaginationConfig={"MaxItems": limit, "PageSize": min(PAGE, limit)},
        )
        return [entry["Key"] for page in pages for entry in page.get("Contents", [])]


def _first(write: Callable[[], object]) -> bool:
    """Whether the conditional write was the first; tries again where the store says to."""
    for _ in range(TRIES):
        try:
            write()
        except ClientError as error:
            if error_code(error) in TAKEN:
                return False
            if error_code(error) not in RACING:
                raise
        else:
            return True
    raise StorageUnavailable("S3 was busy with other writers of one key: try again.")
