"""The data folder: what is refused, and the sentence that says why."""

import json
from pathlib import Path

import pytest

from sless.errors import InvalidSetting
from sless.local import folder as folders
from sless.local.folder import owned_folder


def refusal(root: Path) -> str:
    with pytest.raises(InvalidSetting) as raised, owned_folder(root, version="1.0"):
        pass
    return raised.value.message


def test_a_new_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    with owned_folder(tmp_path / "deep" / "home", version="1.0") as layout:
        assert layout.root.stat().st_mode & 0o077 == 0
        assert layout.keys.is_dir()
    with owned_folder(layout.root, version="1.1"):
        pass


def test_an_empty_folder_is_closed_to_others(tmp_path: Path) -> None:
    place = tmp_path / "made by hand"
    place.mkdir(mode=0o755)
    with owned_folder(place, version="1.0") as layout:
        assert layout.root.stat().st_mode & 0o077 == 0


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("chapter 1")
    assert "no data folder of sless" in refusal(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_newer_ones_folder_is_refused(tmp_path: Path) -> None:
    with owned_folder(tmp_path, version="1.0") as layout:
        pass
    layout.format.write_text(json.dumps({"format": folders.FORMAT + 1, "sless": "9.9"}))
    said = refusal(tmp_path)
    assert "9.9" in said
    assert "upgrade sless" in said


def test_a_damaged_format_is_no_reason_to_go_on(tmp_path: Path) -> None:
    with owned_folder(tmp_path, version="1.0") as layout:
        pass
    layout.format.write_text("{")
    assert str(layout.format) in refusal(tmp_path)


def test_a_path_too_long_for_sockets_is_refused(tmp_path: Path) -> None:
    said = refusal(tmp_path / ("x" * 120))
    assert "too long for the Unix sockets" in said
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    place = tmp_path / "home"
    place.write_text("")
    assert str(place) in refusal(place)


def test_one_at_a_time(tmp_path: Path) -> None:
    with owned_folder(tmp_path, version="1.0"):
        assert "Another sless up" in refusal(tmp_path)
    with owned_folder(tmp_path, version="1.0"):
        pass
