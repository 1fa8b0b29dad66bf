"""Cases A3 and A8: what is refused, by which reason, with the entry's name and a cure."""

import shutil
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from sless.archive import ArchiveLimits, check_zip, prepare_context
from sless.errors import (
    ArchiveCompressionUnsupported,
    ArchiveEmpty,
    ArchiveEncrypted,
    ArchiveNameCollision,
    ArchiveNameTooLong,
    ArchiveNotZip,
    ArchiveSpecialFile,
    ArchiveTooLarge,
    ArchiveTooManyEntries,
    ArchiveTruncated,
    ArchiveUnsafeLink,
    ArchiveUnsafePath,
    BadArchive,
)
from tests.unit.archives import Entry, central, folder, link, patch, set_central, write_zip

HANDLER = Entry("handler.py", b"def handler(request): return 'hi'\n")


def refuse(path: Path, error: type[BadArchive]) -> str:
    """The message with which both entries refuse that zip, leaving nothing behind."""
    before = sorted(path.parent.iterdir())
    with pytest.raises(BadArchive) as checked:
        check_zip(path)
    with pytest.raises(BadArchive) as prepared:
        prepare_context(path, "python3.11", path.parent / "context.tar.gz")
    assert type(checked.value) is type(prepared.value) is error
    assert sorted(path.parent.iterdir()) == before
    message = checked.value.message
    assert message.endswith(".")
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "name",
    [
        "../../kaniko/x",
        "/etc/passwd",
        "a/../../b",
        "a/..",
        "..",
        "..\\..\\x",
        "a\\..\\..\\x",
        "\\etc\\passwd",
        "\\\\server\\share\\x",
        "C:\\x",
        "C:/x",
        "c:x",
        "__MACOSX/../../x",
        "a\0b",
        ".",
    ],
)
def test_a_path_that_is_not_below_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    message = refuse(write_zip(tmp_path / "a.zip", HANDLER, Entry(name)), ArchiveUnsafePath)
    assert repr(name) in message


def test_a_name_that_says_utf8_and_is_none_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", Entry("xé"))
    patch(path, lambda data: data.__setitem__(slice(None), data.replace("é".encode(), b"\xff\xfe")))
    refuse(path, ArchiveUnsafePath)


@pytest.mark.parametrize(
    "target",
    ["/", "/etc/passwd", "..", "../x", "b/../../x", "a", "loop", "x\\y", "x\0y", "", "t" * 2000],
)
def test_a_link_that_leaves_the_tree_or_never_ends_is_refused(tmp_path: Path, target: str) -> None:
    path = write_zip(tmp_path / "a.zip", HANDLER, link("a", target), link("loop", "a"))
    assert "'a'" in refuse(path, ArchiveUnsafeLink)


def test_a_link_whose_target_is_no_text_is_refused(tmp_path: Path) -> None:
    entry = Entry("a", b"\xff", mode=stat.S_IFLNK | 0o777)
    assert "'a'" in refuse(write_zip(tmp_path / "a.zip", HANDLER, entry), ArchiveUnsafeLink)


def test_a_link_over_another_link_is_resolved_as_the_system_would(tmp_path: Path) -> None:
    """By its letters `deep/../../x` stays within; through the link it does not."""
    entries = [HANDLER, Entry("sub/y"), link("one/deep", "../sub"), link("l", "one/deep/../../x")]
    assert "'l'" in refuse(write_zip(tmp_path / "a.zip", *entries), ArchiveUnsafeLink)


@pytest.mark.parametrize("target", ["/", "sub"])
def test_a_path_through_a_link_is_refused(tmp_path: Path, target: str) -> None:
    entries = [Entry("a/etc/x"), link("a", target), Entry("sub/y")]
    message = refuse(write_zip(tmp_path / "a.zip", *entries), ArchiveUnsafeLink)
    assert "'a/etc" in message


def test_a_link_out_of_the_stripped_top_folder_is_refused(tmp_path: Path) -> None:
    entries = [Entry("top/x"), link("top/a", "../top/x")]
    refuse(write_zip(tmp_path / "a.zip", *entries), ArchiveUnsafeLink)


@pytest.mark.parametrize("form", [stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK])
def test_a_device_is_refused(tmp_path: Path, form: int) -> None:
    path = write_zip(tmp_path / "a.zip", HANDLER, Entry("dev/null", b"", mode=form | 0o666))
    assert "'dev/null'" in refuse(path, ArchiveSpecialFile)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Entry("a.py"), Entry("a.py")),
        (Entry("a.py"), Entry("A.py")),
        (Entry("a/x"), Entry("A/y")),
        (Entry("a"), Entry("a/x")),
        (Entry("a/x"), Entry("a")),
        (Entry("a"), folder("a")),
        (Entry("x/./a"), Entry("x//a")),
        (Entry("x\\a"), Entry("x/a")),
        (Entry("caf\u00e9"), Entry("cafe\u0301")),
        (Entry("straße"), Entry("STRASSE")),
    ],
)
def test_two_entries_of_one_name_are_refused(tmp_path: Path, one: Entry, other: Entry) -> None:
    refuse(write_zip(tmp_path / "a.zip", HANDLER, one, other), ArchiveNameCollision)


@pytest.mark.parametrize("flag", [0x1, 0x40, 0x2000])
def test_an_encrypted_entry_is_refused(tmp_path: Path, flag: int) -> None:
    path = write_zip(tmp_path / "a.zip", HANDLER)
    patch(path, lambda data: set_central(data, 8, "<H", flag))
    assert "'handler.py'" in refuse(path, ArchiveEncrypted)


@pytest.mark.parametrize("method", [1, 9, 93, 95, 99])
def test_an_unknown_compression_is_refused(tmp_path: Path, method: int) -> None:
    path = write_zip(tmp_path / "a.zip", HANDLER)
    patch(path, lambda data: set_central(data, 10, "<H", method))
    message = refuse(path, ArchiveCompressionUnsupported)
    assert "'handler.py'" in message
    assert str(method) in message


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", HANDLER)
    patch(path, lambda data: set_central(data, 6, "<H", 90))
    assert "9.0" in refuse(path, ArchiveCompressionUnsupported)


def test_an_lzma_dictionary_of_gigabytes_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", Entry("big", b"x" * 100, method=zipfile.ZIP_LZMA))
    start = 30 + len("big")
    patch(path, lambda data: struct.pack_into("<L", data, start + 5, 0xFFFF_FFFF))
    assert "'big'" in refuse(path, ArchiveCompressionUnsupported)


@pytest.mark.parametrize("name", ["n" * 300, "é" * 128, "d/" * 600 + "x", f"{'n' * 256}/x"])
def test_a_long_name_is_refused(tmp_path: Path, name: str) -> None:
    message = refuse(write_zip(tmp_path / "a.zip", HANDLER, Entry(name)), ArchiveNameTooLong)
    assert len(message) < 300


@pytest.mark.parametrize("data", [b"", b"PK", b"hello", b"\x1f\x8b\x08" + bytes(100)])
def test_what_is_no_zip_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    refuse(path, ArchiveNotZip)


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9, 0.99])
def test_a_truncated_zip_is_refused(tmp_path: Path, part: float) -> None:
    path = write_zip(tmp_path / "a.zip", HANDLER, Entry("b", bytes(range(256)) * 10))
    patch(path, lambda data: data.__delitem__(slice(int(len(data) * part), None)))
    refuse(path, ArchiveTruncated)


def test_data_after_the_end_are_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", HANDLER)
    patch(path, lambda data: data.extend(b"more"))
    assert "4 bytes after" in refuse(path, ArchiveTruncated)


def test_a_zip_in_parts_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", HANDLER)
    patch(path, lambda data: struct.pack_into("<H", data, len(data) - 18, 1))
    assert "several" in refuse(path, ArchiveTruncated)


@pytest.mark.parametrize(
    "entries", [[], [folder("a"), folder("b")], [Entry("__MACOSX/x"), Entry(".DS_Store")]]
)
def test_a_zip_without_a_file_is_refused(tmp_path: Path, entries: list[Entry]) -> None:
    refuse(write_zip(tmp_path / "a.zip", *entries), ArchiveEmpty)


def test_a_wrong_checksum_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", HANDLER)
    patch(path, lambda data: set_central(data, 16, "<L", 12345))
    assert "'handler.py'" in refuse(path, ArchiveTruncated)


def test_another_name_in_the_entry_s_own_header_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", HANDLER)
    patch(path, lambda data: data.__setitem__(slice(30, 40), b"../evil.py"))
    assert "another name" in refuse(path, ArchiveTruncated)


def test_entries_that_share_bytes_are_refused(tmp_path: Path) -> None:
    """The way of a bomb in which every entry is one and the same kernel of data."""
    path = write_zip(tmp_path / "a.zip", Entry("a", bytes(10_000)), Entry("b", bytes(10_000)))
    patch(path, lambda data: set_central(data, 42, "<L", 0, index=1))
    assert "overlaps" in refuse(path, ArchiveTruncated)


def test_an_entry_that_reaches_into_the_list_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", HANDLER)
    patch(path, lambda data: set_central(data, 20, "<L", 100_000))
    assert "overlaps" in refuse(path, ArchiveTruncated)


def test_a_folder_with_data_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", HANDLER, Entry("a/", b"data", mode=stat.S_IFDIR))
    assert "'a/'" in refuse(path, ArchiveTruncated)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_an_end_record_that_counts_wrong_is_refused(tmp_path: Path, count: int) -> None:
    path = write_zip(tmp_path / "a.zip", HANDLER, Entry("b"))
    patch(path, lambda data: struct.pack_into("<HH", data, len(data) - 14, count, count))
    refuse(path, ArchiveTruncated)


@pytest.mark.parametrize("extra", [b"end", b"\x01\x00\xff\xff"])
def test_a_damaged_extra_field_is_refused(tmp_path: Path, extra: bytes) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as out:
        info = zipfile.ZipInfo("a")
        info.extra = b"\x99\x99\x00\x00" + extra
        out.writestr(info, "x")
    if extra == b"end":  # Fewer than four bytes are padding, which Android's tools write.
        check_zip(path)
    else:
        refuse(path, ArchiveTruncated)


def test_every_size_has_its_limit(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", *(Entry(f"{n}", bytes(1000)) for n in range(10)))
    check_zip(path, ArchiveLimits(entries=10, inflated_bytes=10_000))
    for limits, error in (
        (ArchiveLimits(entries=9), ArchiveTooManyEntries),
        (ArchiveLimits(inflated_bytes=9_999), ArchiveTooLarge),
        (ArchiveLimits(packed_bytes=100), ArchiveTooLarge),
        (ArchiveLimits(directory_bytes=100), ArchiveTooLarge),
        (ArchiveLimits(name_bytes=0), ArchiveNameTooLong),
    ):
        with pytest.raises(error):
            check_zip(path, limits)


def test_an_earlier_context_stays_when_a_zip_is_refused(tmp_path: Path) -> None:
    """The damage is found when half of the context is written."""
    good = write_zip(tmp_path / "good.zip", HANDLER, Entry("z", bytes(100_000)))
    out = tmp_path / "context.tar.gz"
    prepare_context(good, "python3.11", out)
    before = out.read_bytes()
    bad = Path(shutil.copy(good, tmp_path / "bad.zip"))
    patch(bad, lambda data: data.__setitem__(central(data) - 10, data[central(data) - 10] ^ 0xFF))
    with pytest.raises(ArchiveTruncated, match="'z'"):
        prepare_context(bad, "python3.11", out)
    assert out.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "bad.zip",
        "context.tar.gz",
        "good.zip",
    ]
