"""A part's log, bounded on disk."""

from pathlib import Path

from sless.local.rotation import RotatingLog


def test_a_log_goes_on_after_a_rotation_that_failed(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    log = RotatingLog(folder / "a.log", limit=8)
    moved = folder.rename(tmp_path / "moved")  # no new file can be made in its place
    log.write(b"more than eight bytes\n")
    log.write(b"and more\n")
    moved.rename(folder)
    log.write(b"newest\n")
    log.write(b"last\n")
    log.close()
    assert "newest\n" in (folder / "a.log.1").read_text()
    assert (folder / "a.log").read_text() == "last\n"
