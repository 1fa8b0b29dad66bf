"""Cases A6 and A7: many files and bombs end quickly, and memory stays flat."""

import bz2
import json
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from pathlib import Path

import pytest

from sless.archive import ArchiveLimits, check_zip
from sless.errors import ArchiveTooLarge, ArchiveTooManyEntries
from tests.unit.archives import DEFLATED, Entry, files_zip, patch, set_central, write_zip

MIB = 1024 * 1024

_MEASURE = """
import json, re, sys
from pathlib import Path
from sless.archive import check_zip, prepare_context
from sless.errors import BadArchive
# Not getrusage: its maximum is inherited from the process that started this one.
def peak():
    return int(re.search("VmHWM:[^0-9]*([0-9]+)", Path("/proc/self/status").read_text())[1]) * 1024
small, big, out = map(Path, sys.argv[1:])
prepare_context(small, "python3.11", out)
before, reason = peak(), ""
try:
    check_zip(big)
    prepare_context(big, "python3.11", out)
except BadArchive as error:
    reason = error.reason
print(json.dumps([peak() - before, reason]))
"""


def measure(folder: Path, big: Path) -> tuple[int, str]:
    """Bytes of memory that this zip takes beyond what a small one does, and its refusal."""
    small = files_zip(folder / "small.zip", {"a.py": "1"})
    command = [sys.executable, "-c", _MEASURE, str(small), str(big), str(folder / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    grown, reason = json.loads(done.stdout)
    return int(grown), str(reason)


def test_memory_stays_flat_for_a_200_mb_zip(tmp_path: Path) -> None:
    """One file stored, so that the zip itself is large; zeros, so that gzip is quick."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as out, out.open("big", "w") as file:
        for _ in range(200):
            file.write(bytes(MIB))
    assert path.stat().st_size > 200 * MIB
    grown, reason = measure(tmp_path, path)
    assert reason == ""
    assert grown < 16 * MIB


def bomb(path: Path, method: int) -> Path:
    """5 GB of zeros in 5 MB, or 45 MiB in 40 bytes, whose header claims 1 KB."""
    # bzip2 says 45 MiB in some 40 bytes, and zipfile would inflate them at once.
    packed = _deflated_zeros(5 * 1024) if method == DEFLATED else bz2.compress(bytes(45 * MIB))
    write_zip(path, Entry("bomb", packed, method=zipfile.ZIP_STORED))
    patch(path, lambda data: struct.pack_into("<H", data, 8, method))
    patch(path, lambda data: set_central(data, 10, "<H", method))
    patch(path, lambda data: set_central(data, 24, "<L", 1024))
    patch(path, lambda data: set_central(data, 16, "<L", zlib.crc32(bytes(1024))))
    return path


def _deflated_zeros(mebibytes: int) -> bytes:
    """The deflate stream of that many MiB of zeros, made of one MiB's, said again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * mebibytes + packer.flush()


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_a_bomb_whose_header_lies_is_stopped_in_constant_memory(
    tmp_path: Path, method: int
) -> None:
    grown, reason = measure(tmp_path, bomb(tmp_path / "bomb.zip", method))
    assert reason == "ArchiveTooLarge"
    # bz2 itself takes up to 8 MiB, and the zip of 5 MB lies on disk.
    assert grown < 24 * MIB


def test_a_bomb_whose_header_is_honest_is_refused_unread(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", Entry("zeros", bytes(MIB)))
    patch(path, lambda data: set_central(data, 24, "<L", 600 * MIB))
    started = time.process_time()
    with pytest.raises(ArchiveTooLarge, match="'zeros' alone 629,145,600"):
        check_zip(path)
    assert time.process_time() - started < 1


def test_the_inflated_size_is_that_of_all_files_together(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", *(Entry(f"{n}", bytes(1000)) for n in range(11)))
    with pytest.raises(ArchiveTooLarge, match="10,000 bytes"):
        check_zip(path, ArchiveLimits(inflated_bytes=10_000))


def many(path: Path, count: int, *, claim: int) -> Path:
    """A zip that lists `count` files and claims that it lists `claim`, made without zipfile."""
    names = [f"{n:08d}".encode() for n in range(count)]
    local = struct.Struct("<4s5H3L2H")
    record = struct.Struct("<4s6H3L5H2L")
    with path.open("wb") as out:
        for name in names:
            out.write(local.pack(b"PK\3\4", 20, 0, 0, 0, 33, 0, 0, 0, 8, 0) + name)
        start = out.tell()
        for n, name in enumerate(names):
            where = n * (local.size + 8)
            fields = (20, 20, 0, 0, 0, 33, 0, 0, 0, 8, 0, 0, 0, 0, 0, where)
            out.write(record.pack(b"PK\1\2", *fields) + name)
        size = out.tell() - start
        out.write(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, claim, claim, size, start, 0))
    return path


def test_20_000_files_work(tmp_path: Path) -> None:
    check_zip(many(tmp_path / "a.zip", 20_000, claim=20_000))


@pytest.mark.parametrize("claim", [50_000, 7])
def test_50_000_files_are_refused_quickly_also_when_the_count_lies(
    tmp_path: Path, claim: int
) -> None:
    path = many(tmp_path / "a.zip", 50_000, claim=claim)
    started = time.process_time()
    with pytest.raises(ArchiveTooManyEntries, match="20,000"):
        check_zip(path)
    assert time.process_time() - started < 2


def test_a_list_of_a_million_entries_takes_no_memory(tmp_path: Path) -> None:
    """54 MB of list: what zipfile alone would turn into some 500 MB of objects."""
    small = many(tmp_path / "a.zip", 1, claim=7)
    data = small.read_bytes()
    start = data.index(b"PK\1\2")
    record = data[start : data.index(b"PK\5\6")]
    path = tmp_path / "b.zip"
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 7, 7, len(record) * 10**6, start, 0)
    path.write_bytes(data[:start] + record * 10**6 + end)
    grown, reason = measure(tmp_path, path)
    assert reason == "ArchiveTooLarge"
    assert grown < 16 * MIB


def test_folders_that_no_entry_names_count_too(tmp_path: Path) -> None:
    """Each entry of 1 KB of name may bring 450 folders with it."""
    entries = (Entry(f"{n}/" + "d/" * 450 + "x", b"", method=DEFLATED) for n in range(40))
    path = write_zip(tmp_path / "a.zip", *entries)
    check_zip(path)
    with pytest.raises(ArchiveTooManyEntries, match="files and folders"):
        check_zip(path, ArchiveLimits(entries=8_000))
