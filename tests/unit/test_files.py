"""Files that are there whole or not at all."""

import stat
from pathlib import Path

import pytest

from sless.files import remove_drafts, replacing, write_atomically, write_once


def test_a_file_is_replaced_whole_and_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"older and longer")
    write_atomically(path, b"newer")
    assert path.read_bytes() == b"newer"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_what_was_not_written_to_its_end_leaves_the_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"older")
    with pytest.raises(KeyError):
        _break_off(path)
    assert path.read_bytes() == b"older"
    assert list(tmp_path.iterdir()) == [path]


def test_the_first_writer_of_a_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    assert write_once(path, b"first")
    assert not write_once(path, b"second")
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_drafts_are_removed_by_their_files_name(tmp_path: Path) -> None:
    path, other = tmp_path / "a.json", tmp_path / "b.json"
    (tmp_path / ".a.json-left").touch()
    other.touch()
    remove_drafts(path)
    assert list(tmp_path.iterdir()) == [other]


def _break_off(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"new")
        raise KeyError
