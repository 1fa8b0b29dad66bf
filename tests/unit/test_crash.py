"""Why a function's process ended."""

from pathlib import Path

import pytest

from sless.local.runner.crash import MESSAGE_MAX, Crash, find_crash
from sless.local.runner.last_lines import LastLines


@pytest.mark.parametrize(
    ("text", "code", "lines", "crash"),
    [
        (
            '{"reason": "HandlerImportFailed", "message": "ImportError: x"}',
            1,
            ["noise"],
            Crash("HandlerImportFailed", "ImportError: x"),
        ),
        (
            "",
            7,
            ["a", "b"],
            Crash("FunctionCrashed", "The function's process ended with exit code 7: a\nb"),
        ),
        (
            '{"reason": "FunctionCrashed", "message": "half \\ud83d of one"}',
            1,
            [],
            Crash("FunctionCrashed", "half ? of one"),
        ),
        (
            "[" * 4000,
            3,
            ["[["],
            Crash("FunctionCrashed", "The function's process ended with exit code 3: [["),
        ),
        (
            "no json",
            -11,
            [],
            Crash(
                "FunctionCrashed", "The function's process was ended by SIGSEGV and said nothing."
            ),
        ),
        (
            '{"message": 1}',
            -9,
            [],
            Crash(
                "FunctionCrashed",
                "The function's process was ended by SIGKILL (most often because memory ran out)"
                " and said nothing.",
            ),
        ),
    ],
)
def test_tells_the_functions_word_or_its_last_lines(
    tmp_path: Path, text: str, code: int, lines: list[str], crash: Crash
) -> None:
    (tmp_path / "log").write_text(text)
    assert find_crash(tmp_path / "log", code=code, lines=lines) == crash


def test_a_missing_termination_log_is_no_error(tmp_path: Path) -> None:
    assert find_crash(tmp_path / "log", code=0, lines=["x"]).reason == "FunctionCrashed"


def test_a_long_last_line_keeps_its_end(tmp_path: Path) -> None:
    crash = find_crash(tmp_path / "log", code=1, lines=["x" * 5000 + "end"])
    assert len(crash.message) <= MESSAGE_MAX
    assert crash.message.endswith("end")


def test_last_lines_are_whole_and_bounded() -> None:
    lines = LastLines()
    for number in range(2000):
        lines.write(f"line {number}\n\n".encode())
    lines.write(b"half")
    assert lines.get() == [*(f"line {number}" for number in range(1996, 2000)), "half"]
