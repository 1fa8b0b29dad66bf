"""What every `Objects` does: in memory, and SeaweedFS by boto3."""

import asyncio
import hashlib
import uuid
from pathlib import Path

import pytest

from sless.errors import ChecksumMismatch, ObjectMissing
from sless.ports import Objects

KINDS = [
    pytest.param("memory_objects", id="memory"),
    pytest.param("s3_objects", id="seaweed", marks=pytest.mark.real),
]


@pytest.fixture(params=KINDS)
def objects(request: pytest.FixtureRequest) -> Objects:
    found: Objects = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def prefix() -> str:
    return f"contract/{uuid.uuid4()}/"


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


async def test_what_was_put_is_got(objects: Objects, prefix: str) -> None:
    assert await objects.put_if_absent(f"{prefix}a", b"one\0two")
    assert await objects.get(f"{prefix}a") == b"one\0two"
    assert await objects.find(f"{prefix}a") == b"one\0two"
    assert await objects.exists(f"{prefix}a")


async def test_an_empty_object_is_an_object(objects: Objects, prefix: str) -> None:
    assert await objects.put_if_absent(f"{prefix}empty", b"")
    assert await objects.find(f"{prefix}empty") == b""
    assert not await objects.put_if_absent(f"{prefix}empty", b"more")


async def test_what_is_absent_is_missing(objects: Objects, prefix: str, tmp_path: Path) -> None:
    key = f"{prefix}nothing"
    assert await objects.find(key) is None
    assert not await objects.exists(key)
    with pytest.raises(ObjectMissing, match=key):
        await objects.get(key)
    with pytest.raises(ObjectMissing, match=key):
        await objects.download(key, tmp_path / "file")
    assert names_in(tmp_path) == []
    with pytest.raises(ObjectMissing, match=key):
        await objects.copy_if_absent(key, f"{prefix}copy")
    assert not await objects.exists(f"{prefix}copy")


async def test_nothing_is_overwritten(objects: Objects, prefix: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"file")
    await objects.put_if_absent(f"{prefix}other", b"other")
    assert await objects.put_if_absent(f"{prefix}a", b"first")
    assert not await objects.put_if_absent(f"{prefix}a", b"second")
    assert not await objects.upload_if_absent(
        f"{prefix}a", tmp_path / "file", sha256=sha256(b"file")
    )
    assert not await objects.copy_if_absent(f"{prefix}other", f"{prefix}a")
    assert await objects.get(f"{prefix}a") == b"first"


async def test_of_many_writers_one_wins(objects: Objects, prefix: str) -> None:
    for key in (f"{prefix}{race}" for race in range(3)):
        bodies = [f"writer {number}".encode() for number in range(16)]
        won = await asyncio.gather(*(objects.put_if_absent(key, body) for body in bodies))
        assert won.count(True) == 1
        assert await objects.get(key) == bodies[won.index(True)]


async def test_a_file_goes_up_and_comes_down(objects: Objects, prefix: str, tmp_path: Path) -> None:
    body = b"0123456789abcdef" * 700_000  # 11 MB: several of SeaweedFS's chunks
    (tmp_path / "up").write_bytes(body)
    key = f"{prefix}file"
    assert await objects.upload_if_absent(key, tmp_path / "up", sha256=sha256(body))
    (tmp_path / "down").write_bytes(b"what was there before")
    await objects.download(key, tmp_path / "down")
    assert (tmp_path / "down").read_bytes() == body


async def test_other_bytes_than_announced_are_refused(
    objects: Objects, prefix: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"damaged on the way")
    with pytest.raises(ChecksumMismatch):
        await objects.upload_if_absent(
            f"{prefix}a", tmp_path / "file", sha256=sha256(b"as it was sent")
        )
    assert not await objects.exists(f"{prefix}a")


async def test_a_copy_is_made_once(objects: Objects, prefix: str) -> None:
    await objects.put_if_absent(f"{prefix}source", b"content")
    assert await objects.copy_if_absent(f"{prefix}source", f"{prefix}target")
    assert await objects.get(f"{prefix}target") == b"content"
    assert not await objects.copy_if_absent(f"{prefix}source", f"{prefix}target")


@pytest.mark.parametrize(
    "name",
    [
        "a b",
        "a+b",
        "a%2Fb",
        "100%",
        "grüße",
        "日本語",
        "emoji😀",
        "q?x=1&y=2",
        "it's",
        "a;b=c",
        "#1",
    ],
)
async def test_any_name_will_do(objects: Objects, prefix: str, name: str) -> None:
    key = f"{prefix}{name}"
    assert await objects.put_if_absent(key, name.encode())
    assert not await objects.put_if_absent(key, b"")
    assert await objects.copy_if_absent(key, f"{key}.copy")
    assert await objects.get(f"{key}.copy") == name.encode()
    assert await objects.list(prefix) == [key, f"{key}.copy"]
    assert await objects.list(prefix, after=key) == [f"{key}.copy"]


async def test_keys_are_listed_in_byte_order(objects: Objects, prefix: str) -> None:
    names = ["é", "b", "a-1", "a", "Z", "a.b", "a0", "😀", "￿"]
    for name in names:
        await objects.put_if_absent(f"{prefix}{name}", b"")
    expected = sorted((f"{prefix}{name}" for name in names), key=str.encode)
    assert await objects.list(prefix) == expected


async def test_folders_are_listed_through(objects: Objects, prefix: str) -> None:
    keys = [f"{prefix}{nonce}/{box}/{at:012d}" for nonce in "ab" for box in "xy" for at in (0, 9)]
    for key in reversed(keys):
        await objects.put_if_absent(key, b"")
    assert await objects.list(prefix) == keys
    for at, key in enumerate(keys):
        assert await objects.list(prefix, after=key) == keys[at + 1 :]
        assert await objects.list(prefix, after=key, limit=2) == keys[at + 1 : at + 3]


async def test_a_prefix_is_no_folder(objects: Objects, prefix: str) -> None:
    for name in ("ab", "abc", "b"):
        await objects.put_if_absent(f"{prefix}{name}", b"")
    assert await objects.list(f"{prefix}ab") == [f"{prefix}ab", f"{prefix}abc"]
    assert await objects.list(f"{prefix}x") == []


async def test_a_long_list_is_whole(objects: Objects, prefix: str) -> None:
    keys = [f"{prefix}{number:04d}" for number in range(1020)]
    await asyncio.gather(*(objects.put_if_absent(key, b"") for key in keys))
    assert await objects.list(prefix, limit=5000) == keys
    assert await objects.list(prefix) == keys[:1000]
    assert await objects.list(prefix, after=keys[1010]) == keys[1011:]
