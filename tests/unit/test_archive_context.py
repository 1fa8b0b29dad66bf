"""Whole contexts: the Dockerfile first, what is installed from, and what a Procfile says."""

import tarfile
from pathlib import Path

import pytest

from sless.archive import FolderFiles, ZipFiles, prepare_context
from sless.archive.reader import ZipReader
from sless.dependencies import DependencyKind, Language, find_dependencies
from sless.errors import (
    DependencyFileInvalid,
    DependencyUnsupported,
    RuntimeUnsupported,
    SlessError,
)
from tests.unit.archives import Entry, files_zip, link, open_context, write_zip

PACKAGE = '{"dependencies": {"a": "1"}}'
LOCK = '{"lockfileVersion": 3}'


@pytest.mark.parametrize(
    ("runtime", "files", "kind"),
    [
        ("python3.11", {"handler.py": ""}, DependencyKind.NONE),
        ("python3.13", {"requirements.txt": "six\n"}, DependencyKind.REQUIREMENTS),
        ("node20", {"index.js": ""}, DependencyKind.NONE),
        ("node20", {"package.json": PACKAGE}, DependencyKind.NPM_INSTALL),
        ("node22", {"package.json": "{}", "package-lock.json": LOCK}, DependencyKind.NPM_CI),
        ("node22", {"requirements.txt": "six"}, DependencyKind.NONE),
    ],
)
def test_each_kind_of_function(
    tmp_path: Path, runtime: str, files: dict[str, str], kind: DependencyKind
) -> None:
    opened = open_context(files_zip(tmp_path / "a.zip", {**files, "z/z": ""}), runtime)
    assert opened.names[0] == "Dockerfile"
    assert opened.names[1:] == sorted(opened.names[1:])
    assert ("\nRUN " in opened.dockerfile) == (kind is not DependencyKind.NONE)
    contents = opened.context.contents
    assert contents.dependencies.kind is kind
    expected = () if kind is DependencyKind.NONE else tuple(sorted(files))
    assert contents.dependency_files == expected
    assert opened.context.entries == len(opened.names)
    assert opened.context.size == (tmp_path / "a.tar.gz").stat().st_size


def test_an_unsupported_runtime_is_refused_before_the_zip_is_read(tmp_path: Path) -> None:
    with pytest.raises(RuntimeUnsupported):
        prepare_context(tmp_path / "missing.zip", "cobol74", tmp_path / "out")


@pytest.mark.parametrize(
    ("runtime", "files", "error"),
    [
        ("node22", {"package.json": "{\n  oops"}, DependencyFileInvalid),
        ("python3.11", {"requirements.txt": "-e .\n"}, DependencyUnsupported),
        ("python3.11", {"requirements.txt": b"\x00\x01" * 40}, DependencyFileInvalid),
        ("python3.11", {"requirements.txt": "#" * (17 * 2**20)}, DependencyFileInvalid),
    ],
)
def test_dependencies_that_cannot_be_had_leave_no_context(
    tmp_path: Path, runtime: str, files: dict[str, bytes | str], error: type[SlessError]
) -> None:
    path = files_zip(tmp_path / "a.zip", {**files, "x": ""})
    with pytest.raises(error):
        prepare_context(path, runtime, tmp_path / "out")
    assert [one.name for one in tmp_path.iterdir()] == ["a.zip"]


def test_what_is_installed_from_is_normalised_and_the_user_s_file_is_not(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbfsix\r\n-r more/other.txt\r\n"
    entries = [Entry("requirements.txt", data), Entry("more/other.txt", b"idna"), Entry("x")]
    opened = open_context(write_zip(tmp_path / "a.zip", *entries))
    assert opened.code["requirements.txt"] == data
    assert opened.data["dependencies/requirements.txt"] == b"six\n-r more/other.txt\n"
    assert opened.data["dependencies/more/other.txt"] == b"idna"


def test_a_linked_requirements_file_is_read(tmp_path: Path) -> None:
    entries = [link("requirements.txt", "r/prod.txt"), Entry("r/prod.txt", b"six"), Entry("x")]
    opened = open_context(write_zip(tmp_path / "a.zip", *entries))
    assert opened.data["dependencies/requirements.txt"] == b"six"


@pytest.mark.parametrize(
    ("text", "web"),
    [
        ("web: python app.py\n", True),
        ("worker: x\nweb:y", True),
        ("web:\n", False),
        ("#web: x", False),
    ],
)
def test_a_procfile_s_web_line_is_seen(tmp_path: Path, text: str, web: bool) -> None:  # noqa: FBT001 - a parameter of the test
    opened = open_context(files_zip(tmp_path / "a.zip", {"Procfile": text, "x": ""}))
    assert opened.context.contents.web is web


def test_an_unpacked_context_says_the_same_as_the_zip(tmp_path: Path) -> None:
    """So a builder that unpacks it need not be told."""
    files = {"requirements.txt": "six\n-r sub/more.txt", "sub/more.txt": "idna", "x": ""}
    opened = open_context(files_zip(tmp_path / "a.zip", files))
    with tarfile.open(tmp_path / "a.tar.gz") as tar:
        tar.extraction_filter = getattr(tarfile, "data_filter", None)  # since 3.11.4
        tar.extractall(tmp_path / "unpacked")  # noqa: S202 - see above
    found = find_dependencies(FolderFiles(tmp_path / "unpacked" / "code"), Language.PYTHON)
    assert found == opened.context.contents.dependencies


def test_a_zip_s_files_can_be_looked_through(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", Entry("a/b", b"1"), Entry("c", b"2"), link("l", "a/b"))
    with ZipReader(path) as reader:
        files = ZipFiles(reader)
        assert dict(files) == {"a/b": b"1", "c": b"2"}
        assert files["l"] == b"1"
        assert "a" not in files
        assert len(files) == 2


def test_a_folder_s_files_end_at_the_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a").write_text("a")
    (tmp_path / "secret").write_text("s")
    (tmp_path / "in/link").symlink_to("../secret")
    files = FolderFiles(tmp_path / "in")
    assert files["a"] == b"a"
    for outside in ("../secret", "link", str(tmp_path / "secret"), "missing", "n" * 5000):
        assert outside not in files
    assert list(files) == ["a"]
    with pytest.raises(KeyError):
        files["../secret"]
