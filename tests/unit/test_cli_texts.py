from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sless.cli.log_stream import Lines
from sless.cli.texts import age, command, duration, printable, sentence, size, took


@pytest.mark.parametrize(
    ("since", "text"),
    [
        ("2026-01-02T03:04:00Z", "5s"),
        ("2026-01-02T03:00:05Z", "4m"),
        ("2026-01-02T00:00:00+01:00", "4h"),
        ("2025-12-01T00:00:00Z", "32d"),
        ("2026-01-02T03:04:09Z", "0s"),
        ("", "-"),
        ("soon", "-"),
    ],
)
def test_age(since: str, text: str) -> None:
    assert age(since, now=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) == text


def test_durations_and_sizes() -> None:
    assert [duration(s) for s in (0.04, 59.94, 60, 3599.9, 3600, 90_000)] == [
        "0.0s",
        "59.9s",
        "1m00s",
        "59m59s",
        "1h00m",
        "25h00m",
    ]
    assert [size(b) for b in (0, 999, 1000, 1_500_000, 2_000_000_000)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "1.5 MB",
        "2.0 GB",
    ]
    assert took("2026-01-02T03:04:05Z", "2026-01-02T03:04:06.5Z") == "1.5s"
    assert took("2026-01-02T03:04:05Z", "") == "-"


def test_a_command_to_copy_is_quoted() -> None:
    assert command("up", "--data", "my folder") == "`sless up --data 'my folder'`"


@given(st.text())
def test_nothing_that_steers_a_terminal_is_printable(text: str) -> None:
    left = printable(text)
    assert not [c for c in left if c not in "\t\n" and (c < " " or "\x7f" <= c <= "\x9f")]
    assert "\n" not in sentence(text)


def test_colours_stay_if_wanted() -> None:
    text = "\x1b[31mred\x1b[0m\x1b[2J \x1b]8;;http://x\x1b\\link\x1b]8;;\x07"
    assert printable(text, colour=True) == "\x1b[31mred\x1b[0m link"
    assert printable(text) == "red link"


@given(st.lists(st.text(alphabet="ab\n")))
def test_lines_do_not_depend_on_where_a_log_was_cut(pieces: list[str]) -> None:
    lines = Lines()
    found = [line for piece in pieces for line in lines.feed(piece)] + lines.flush()
    assert found == "".join(pieces).removesuffix("\n").split("\n") or (
        found == [] and not "".join(pieces)
    )
