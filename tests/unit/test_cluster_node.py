"""What the test cluster refuses before it touches anything."""

import dataclasses
from pathlib import Path

import pytest

from tests.cluster.node.commands import Unready
from tests.cluster.node.machine import check_folder
from tests.cluster.node.place import Place
from tests.cluster.node.programs import API_PROGRAMS, NODE_PROGRAMS


def test_a_folder_with_something_else_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(Unready, match="holds something else: set SLESS_CLUSTER_DIR"):
        check_folder(tmp_path)


def test_a_folder_that_pods_cannot_walk_to_is_not_taken(tmp_path: Path) -> None:
    closed = tmp_path / "home"
    closed.mkdir(mode=0o700)
    with pytest.raises(Unready, match="home is closed to others"):
        check_folder(closed / "cluster")


def test_another_pin_or_flag_is_another_program(tmp_path: Path) -> None:
    place = Place(cache=tmp_path, folder=tmp_path, ip="10.88.0.1")
    programs = [*API_PROGRAMS, *NODE_PROGRAMS]
    stamps = {program.stamp(place) for program in programs}
    assert len(stamps) == len(programs)
    changed = dataclasses.replace(programs[0], tags="netgo")
    assert changed.stamp(place) not in stamps
