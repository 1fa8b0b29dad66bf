"""A build's log: whole lines at once, bounded, masked."""

from pathlib import Path

from sless.local.runner.job_log import JobLog


def _log(tmp_path: Path, *, limit: int = 1000, secrets: dict[str, str] | None = None) -> JobLog:
    return JobLog(tmp_path / "build.log", limit=limit, secrets=secrets or {})


def test_a_line_is_on_disk_when_it_ends(tmp_path: Path) -> None:
    with _log(tmp_path) as log:
        log.write(b"one\ntw")
        assert (tmp_path / "build.log").read_bytes() == b"one\n"
        log.write(b"o\n")
        assert (tmp_path / "build.log").read_bytes() == b"one\ntwo\n"
        log.write(b"three")
        assert log.tail == "one\ntwo\nthree"
    assert (tmp_path / "build.log").read_bytes() == b"one\ntwo\nthree\n"


def test_a_line_without_end_is_written_in_time(tmp_path: Path) -> None:
    with _log(tmp_path, limit=10**6) as log:
        log.write(b"x" * 100_000)
        assert (tmp_path / "build.log").stat().st_size == 100_001


def test_what_is_too_much_is_cut_once_and_said(tmp_path: Path) -> None:
    with _log(tmp_path, limit=10) as log:
        for _ in range(100):
            log.write(b"1234567\n")
        assert log.tail.count("\n") == 100, "an error is read from the end all the same"
    text = (tmp_path / "build.log").read_text()
    assert text == "1234567\n12\n[The log is cut here: it has reached its limit.]\n"


def test_exactly_the_limit_is_not_cut(tmp_path: Path) -> None:
    with _log(tmp_path, limit=8) as log:
        log.write(b"1234567\n")
    assert (tmp_path / "build.log").read_text() == "1234567\n"


def test_a_secret_split_between_two_writes_is_masked(tmp_path: Path) -> None:
    with _log(tmp_path, secrets={"hush-hush": "$TOKEN"}) as log:
        log.write(b"the word is hush-")
        log.write(b"hush \xff\n")
        assert "hush" not in log.tail
    assert (tmp_path / "build.log").read_bytes() == b"the word is $TOKEN \xff\n"
