"""Case A5, and what the CLI makes of a folder."""

import contextlib
import os
import socket
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sless.archive import ArchiveLimits, PackResult, check_zip, pack, pack_folder
from sless.errors import (
    ArchiveEmpty,
    ArchiveNameCollision,
    ArchiveNotZip,
    ArchiveSpecialFile,
    ArchiveTooLarge,
    ArchiveTooManyEntries,
    ArchiveUnreadable,
    ArchiveUnsafeLink,
    ArchiveUnsafePath,
    BadArchive,
)
from tests.unit.archives import files_zip, open_context


def fill(folder: Path, *paths: str, **texts: str) -> Path:
    for path in (*paths, *texts):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(os.fsencode(texts.get(path, path)))
    return folder


def packed(folder: Path) -> tuple[PackResult, list[str]]:
    """The result for that folder, and the names in its zip, which is checked as the API does."""
    result = pack_folder(folder, folder.parent / "out.zip")
    check_zip(result.path)
    return result, zipfile.ZipFile(result.path).namelist()


def refuse(folder: Path, error: type[BadArchive], limits: ArchiveLimits | None = None) -> str:
    out = folder.parent / "out.zip"
    with pytest.raises(BadArchive) as caught:
        pack_folder(folder, out, limits=limits or ArchiveLimits())
    assert type(caught.value) is error
    assert not out.exists()
    assert caught.value.message.endswith(".")
    return caught.value.message


def test_what_nobody_wants_uploaded_is_left_out(tmp_path: Path) -> None:
    folder = fill(
        tmp_path / "f",
        ".git/config",
        "sub/.git",
        ".venv/pyvenv.cfg",
        ".venv/bin/python",
        "oddly-named/pyvenv.cfg",
        "__pycache__/a.pyc",
        "a.pyc",
        ".mypy_cache/x",
        ".DS_Store",
        "handler.py",
        ".config/kept",
        "sub/kept",
    )
    result, names = packed(folder)
    assert names == [".config/kept", "handler.py", "sub/kept"]
    assert result.files == 3
    assert {".git/", ".venv/", "oddly-named/", "sub/.git", "a.pyc"} <= set(result.skipped)


def test_a_virtual_environment_s_links_to_the_system_do_no_harm(tmp_path: Path) -> None:
    folder = fill(tmp_path / "f", ".venv/pyvenv.cfg", "a.py")
    (folder / ".venv/python").symlink_to("/usr/bin/python3")
    assert packed(folder)[1] == ["a.py"]


def test_node_modules_are_left_out_only_where_npm_installs_them_again(tmp_path: Path) -> None:
    inner = ["node_modules/a/package.json", "node_modules/a/node_modules/b/i.js"]
    other = ["app/node_modules/y.js", "app/package.json"]
    folder = fill(tmp_path / "f", *inner, *other)
    assert packed(folder)[1] == sorted([*inner, *other])
    fill(folder, "package.json")
    assert packed(folder)[1] == sorted([*other, "package.json"])


def test_an_ignore_file_has_git_s_syntax(tmp_path: Path) -> None:
    folder = fill(
        tmp_path / "f",
        "a.log",
        "keep.log",
        "sub/b.log",
        "data/x",
        "sub/data/x",
        "out/x",
        "__pycache__/x",
        "h.py",
    )
    text = "# comment\r\n*.log\r\n!keep.log\r\n/data/\r\nout/\r\n!__pycache__/\r\n"
    (folder / ".slessignore").write_text(text)
    _, names = packed(folder)
    assert names == ["__pycache__/x", "h.py", "keep.log", "sub/data/x"]


def test_gitignore_counts_only_where_there_is_no_slessignore(tmp_path: Path) -> None:
    folder = fill(tmp_path / "f", "a", "b", **{".gitignore": "a\n"})
    assert packed(folder)[1] == [".gitignore", "b"]
    fill(folder, **{".slessignore": "b\n.gitignore\n"})
    assert packed(folder)[1] == ["a"]


@pytest.mark.parametrize("name", [".env", "sub/.env", ".env.production"])
def test_a_file_of_secrets_is_shipped_with_a_warning(tmp_path: Path, name: str) -> None:
    result, names = packed(fill(tmp_path / "f", name, "a.py", ".env.example"))
    assert name in names
    assert len(result.warnings) == 1
    assert name in result.warnings[0]
    assert ".slessignore" in result.warnings[0]


def test_an_unchanged_folder_is_a_byte_identical_zip(tmp_path: Path) -> None:
    one = fill(tmp_path / "one" / "f", "b/x", "a.py", "c", "run.sh")
    other = fill(tmp_path / "other" / "f", "run.sh", "c", "a.py", "b/x", ".git/x", "a.pyc")
    for folder, mode in ((one, 0o700), (other, 0o755)):
        (folder / "run.sh").chmod(mode)
        (folder / "link").symlink_to("a.py")
        (folder / "empty").mkdir()
    os.utime(other / "a.py", (0, 0))
    (other / "c").chmod(0o600)
    first, _ = packed(one)
    second, _ = packed(other)
    assert first.sha256 == second.sha256
    assert first.path.read_bytes() == second.path.read_bytes()
    (other / "c").write_text("changed")
    assert packed(other)[0].sha256 != first.sha256


def test_execute_bits_links_and_empty_folders_arrive(tmp_path: Path) -> None:
    folder = fill(tmp_path / "f", "bin/run.sh", "a.py")
    (folder / "bin/run.sh").chmod(0o750)
    (folder / "bin/link").symlink_to("../a.py")
    (folder / "dir").symlink_to("bin")
    (folder / "empty").mkdir()
    result, _ = packed(folder)
    opened = open_context(result.path)
    assert opened.modes["code/bin/run.sh"] == 0o755
    assert opened.links == {"code/bin/link": "../a.py", "code/dir": "bin"}
    assert "code/empty" in opened.names


def test_a_folder_that_holds_one_folder_arrives_as_it_is(tmp_path: Path) -> None:
    """A zip's single top folder is stripped; the folder that was deployed must not change."""
    result, _ = packed(fill(tmp_path / "f", "src/handler.py"))
    assert open_context(result.path).code == {"src/handler.py": b"src/handler.py"}


def test_a_link_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    folder = fill(tmp_path / "f", "a.py")
    (folder / "link").symlink_to("../other")
    assert "'link' to '../other' leaves" in refuse(folder, ArchiveUnsafeLink)
    (folder / ".slessignore").write_text("link\n")
    assert packed(folder)[1] == ["a.py"]


def test_a_socket_is_refused(tmp_path: Path) -> None:
    folder = fill(tmp_path / "f", "a.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "s"))
        assert stat.S_ISSOCK((folder / "s").stat().st_mode)
        assert "'s'" in refuse(folder, ArchiveSpecialFile)


@pytest.mark.parametrize("name", ["a\\b", "c:x", os.fsdecode(b"\xff")])
def test_a_name_that_would_not_arrive_is_refused(tmp_path: Path, name: str) -> None:
    message = refuse(fill(tmp_path / "f", name), ArchiveUnsafePath)
    assert repr(name) in message
    message.encode()


def test_names_that_differ_in_case_alone_are_refused(tmp_path: Path) -> None:
    assert "rename" in refuse(fill(tmp_path / "f", "a.py", "A.py"), ArchiveNameCollision)


def test_limits_name_themselves_and_the_cure(tmp_path: Path) -> None:
    folder = fill(tmp_path / "f", "a", "b", "c")
    (folder / "b").write_bytes(os.urandom(1000))
    assert "2 files" in refuse(folder, ArchiveTooManyEntries, ArchiveLimits(entries=2))
    assert "'b'" in refuse(folder, ArchiveTooLarge, ArchiveLimits(inflated_bytes=900))
    assert ".slessignore" in refuse(folder, ArchiveTooLarge, ArchiveLimits(packed_bytes=900))


@pytest.mark.parametrize("what", ["nothing", "empty", "ignored"])
def test_a_folder_without_a_file_is_refused(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "f"
    if what != "nothing":
        folder.mkdir()
    if what == "ignored":
        fill(folder, "a.pyc", ".git/x")
    refuse(folder, ArchiveUnreadable if what == "nothing" else ArchiveEmpty)


def test_a_broken_ignore_file_says_so(tmp_path: Path) -> None:
    folder = fill(tmp_path / "f", "a.py")
    (folder / ".slessignore").write_bytes(b"\xff\xfe")
    assert ".slessignore cannot be read" in refuse(folder, ArchiveUnreadable)


def test_a_zip_that_cannot_be_written_says_where(tmp_path: Path) -> None:
    folder = fill(tmp_path / "f", "a.py")
    with pytest.raises(ArchiveUnreadable, match="missing"):
        pack_folder(folder, tmp_path / "missing" / "out.zip")


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Root reads everything: for a while, be somebody who does not."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_an_unreadable_file_is_named() -> None:
    with tempfile.TemporaryDirectory() as reachable:
        Path(reachable).chmod(0o777)
        folder = fill(Path(reachable, "f"), "a.py", "secret")
        (folder / "secret").chmod(0)
        with as_nobody():
            assert "secret" in refuse(folder, ArchiveUnreadable)


def test_a_zip_is_checked_and_taken_as_it_is(tmp_path: Path) -> None:
    path = files_zip(tmp_path / "a.zip", {"top/handler.py": "x", "top/.env": "A=1"})
    result = pack(path, tmp_path / "out.zip")
    assert (result.path, result.files) == (path, 2)
    assert len(result.warnings) == 1
    assert not (tmp_path / "out.zip").exists()
    path.write_text("no zip")
    with pytest.raises(ArchiveNotZip):
        pack(path, tmp_path / "out.zip")
