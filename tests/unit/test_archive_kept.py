"""Cases A1, A2, A4, A8 and A10: what is kept, what is normalised, and what then comes out."""

import stat
import struct
import zipfile
from pathlib import Path

import pytest

from sless.archive import check_zip
from tests.unit.archives import Entry, central, files_zip, folder, link, open_context, write_zip


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (stat.S_IFREG | 0o600, 0o644),
        (stat.S_IFREG | 0o000, 0o644),
        (stat.S_IFREG | 0o666, 0o644),
        (stat.S_IFREG | 0o700, 0o755),
        (stat.S_IFREG | 0o755, 0o755),
        (stat.S_IFREG | 0o4711, 0o755),
        (0o700, 0o755),
        (0, 0o644),
    ],
)
def test_files_are_readable_and_keep_their_execute_bit(
    tmp_path: Path, mode: int, expected: int
) -> None:
    opened = open_context(write_zip(tmp_path / "a.zip", Entry("bin/run.sh", mode=mode), Entry("x")))
    assert opened.modes["code/bin/run.sh"] == expected
    assert opened.modes["code/bin"] == 0o755


def test_a_zip_made_on_windows_without_modes_is_readable(tmp_path: Path) -> None:
    entries = [Entry("a\\b.py", mode=0, system=0), Entry("c.py", mode=0, system=0)]
    opened = open_context(write_zip(tmp_path / "a.zip", *entries))
    assert opened.code == {"a/b.py": b"x", "c.py": b"x"}
    assert {opened.modes["code/a/b.py"], opened.modes["code/c.py"]} == {0o644}


def test_a_folder_marked_by_its_dos_attribute_alone_is_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as out:
        info = zipfile.ZipInfo("logs")
        info.external_attr, info.create_system = 0x10, 0
        out.writestr(info, b"")
        out.writestr("a.py", "")
    assert open_context(path).modes["code/logs"] == 0o755


def test_dotfiles_node_modules_and_empty_folders_are_kept(tmp_path: Path) -> None:
    entries = [
        Entry(".env"),
        Entry(".config/x"),
        Entry("node_modules/pkg/cli.js"),
        link("node_modules/.bin/cli", "../pkg/cli.js"),
        folder("uploads"),
    ]
    opened = open_context(write_zip(tmp_path / "a.zip", *entries), "node22")
    assert set(opened.code) == {".env", ".config/x", "node_modules/pkg/cli.js"}
    assert opened.links == {"code/node_modules/.bin/cli": "../pkg/cli.js"}
    assert "code/uploads" in opened.names
    assert any("'.env'" in warning for warning in opened.context.warnings)


def test_warnings_are_few_however_many_files_they_are_about(tmp_path: Path) -> None:
    opened = open_context(files_zip(tmp_path / "a.zip", {f"{n}/.env": "" for n in range(1000)}))
    assert len(opened.context.warnings) == 4
    assert opened.context.warnings[-1].startswith("997 more files")


def test_inner_links_are_kept_also_over_links_and_to_nothing(tmp_path: Path) -> None:
    links = {"a": "sub/x", "dir": "sub", "deep/up": "../sub/../a", "b": "dir/x", "none": "later"}
    entries = [Entry("sub/x"), *(link(name, target) for name, target in links.items())]
    opened = open_context(write_zip(tmp_path / "a.zip", *entries))
    assert opened.links == {f"code/{name}": target for name, target in links.items()}


def test_a_hard_link_in_an_extra_field_is_not_followed(tmp_path: Path) -> None:
    """Zip's only hard links are notes in PKWARE's Unix field, which nothing here reads."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as out:
        info = zipfile.ZipInfo("a")
        info.extra = struct.pack("<HHLLHH", 0x000D, 23, 0, 0, 0, 0) + b"/etc/passwd"
        out.writestr(info, b"own")
    assert open_context(path).code == {"a": b"own"}


def test_one_single_top_folder_is_stripped_once(tmp_path: Path) -> None:
    files = {"top/a/x": "1", "top/a/y": "2", "__MACOSX/top/._a": "3", ".DS_Store": "4"}
    assert open_context(files_zip(tmp_path / "a.zip", files)).code == {"a/x": b"1", "a/y": b"2"}


@pytest.mark.parametrize("other", ["b.py", "other/x"])
def test_a_top_folder_beside_something_is_kept(tmp_path: Path, other: str) -> None:
    opened = open_context(files_zip(tmp_path / "a.zip", {"top/x": "1", other: "2"}))
    assert set(opened.code) == {"top/x", other}


def test_litter_is_dropped_at_any_depth(tmp_path: Path) -> None:
    files = {"a.py": "1", "sub/.DS_Store": "2", "__MACOSX/a": "3", "sub/__MACOSX": "4"}
    assert set(open_context(files_zip(tmp_path / "a.zip", files)).code) == {"a.py", "sub/__MACOSX"}


def test_a_file_named_like_one_of_ours_stays_a_file_of_the_function(tmp_path: Path) -> None:
    files = {"Dockerfile": "FROM evil", ".dockerignore": "*", "runtime/launch.py": "evil", "a": ""}
    opened = open_context(files_zip(tmp_path / "a.zip", files))
    assert set(opened.code) == set(files)
    assert opened.names[0] == "Dockerfile"
    assert "evil" not in opened.dockerfile
    assert opened.data["runtime/launch.py"] == b"pass\n"


@pytest.mark.parametrize("method", [0, 8, 12, 14])
def test_each_known_compression_works(tmp_path: Path, method: int) -> None:
    data = bytes(range(256)) * 1000 + b"a" * 500_000
    opened = open_context(write_zip(tmp_path / "a.zip", Entry("x", data, method=method)))
    assert opened.code == {"x": data}


def test_zip64_works(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as out, out.open("x", "w", force_zip64=True) as file:
        file.write(b"hello")
    data = path.read_bytes()
    end = data.rindex(b"PK\x05\x06")
    size, offset = struct.unpack_from("<LL", data, end + 12)
    end64 = struct.pack("<4sQHHLLQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, size, offset)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1)
    full = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 2**32 - 1, 2**32 - 1, 0)
    path.write_bytes(data[:end] + end64 + locator + full)
    assert open_context(path).code == {"x": b"hello"}


def test_a_comment_and_bytes_before_the_zip_work(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", Entry("x"), comment=b"made by hand")
    path.write_bytes(b"#!/usr/bin/env python\n" + path.read_bytes())
    assert open_context(path).code == {"x": b"x"}


def test_a_zip_within_the_zip_is_a_file(tmp_path: Path) -> None:
    inner = files_zip(tmp_path / "inner.zip", {"../evil": "x" * 10_000}).read_bytes()
    assert open_context(write_zip(tmp_path / "a.zip", Entry("i.zip", inner))).code == {
        "i.zip": inner
    }


def test_names_beyond_ascii_survive_with_and_without_the_utf8_flag(tmp_path: Path) -> None:
    """macOS writes UTF-8 without saying so."""
    path = files_zip(tmp_path / "a.zip", {"naïve/猫.py": "1", "b": ""})
    data = bytearray(path.read_bytes())
    for start, offset in ((0, 6), (central(data), 8)):
        struct.pack_into("<H", data, start + offset, 0)
    unflagged = tmp_path / "b.zip"
    unflagged.write_bytes(data)
    one, other = open_context(path), open_context(unflagged)
    assert one.code == {"naïve/猫.py": b"1", "b": b""}
    assert one.context == other.context


def test_an_old_name_in_code_page_437_survives(tmp_path: Path) -> None:
    path = files_zip(tmp_path / "a.zip", {"x__.py": "1"})
    path.write_bytes(path.read_bytes().replace(b"x__.py", b"x\x81\x82.py"))
    assert open_context(path).code == {"xüé.py": b"1"}


@pytest.mark.parametrize(
    "name", ["n" * 255, "é" * 127, "d/" * 500 + "x", "a b+%.py", "a\nb", "con"]
)
def test_long_and_odd_names_that_are_allowed_survive(tmp_path: Path, name: str) -> None:
    assert set(open_context(files_zip(tmp_path / "a.zip", {name: "1", "z": ""})).code) == {
        name,
        "z",
    }


def test_a_folder_listed_twice_is_no_collision(tmp_path: Path) -> None:
    check_zip(write_zip(tmp_path / "a.zip", folder("a"), folder("a"), Entry("a/x")))


def test_the_same_files_give_the_same_context_byte_for_byte(tmp_path: Path) -> None:
    """Another order, other times, another compression, with entries for folders and without."""
    old = (1980, 1, 1, 0, 0, 0)
    first = [Entry("b/x", b"1"), Entry("a.py", b"2"), link("l", "a.py")]
    second = [
        folder("b"),
        link("l", "a.py"),
        Entry("a.py", b"2", mode=stat.S_IFREG | 0o600, method=0, time=old),
        Entry("b/x", b"1", mode=stat.S_IFREG | 0o640, method=12),
        Entry("__MACOSX/b/._x"),
    ]
    one = open_context(write_zip(tmp_path / "one.zip", *first))
    other = open_context(write_zip(tmp_path / "other.zip", *second, comment=b"c"))
    assert one.context == other.context
    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "other.tar.gz").read_bytes()


def test_gzip_s_header_carries_no_time_and_no_name(tmp_path: Path) -> None:
    open_context(files_zip(tmp_path / "a.zip", {"x": ""}))
    head = (tmp_path / "a.tar.gz").read_bytes()[:10]
    assert head[3] == 0, "flags: no name, no comment"
    assert head[4:8] == bytes(4), "time"
