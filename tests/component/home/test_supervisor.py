"""The real supervisor with small parts: starts, ends, restarts, stops."""

import json
import os
import signal
import time
from collections.abc import Callable

from sless.local.pidfile import ProcessMark, end_leftovers, find_mark
from tests.component.home.small_parts import (
    BROKEN,
    MUTE,
    SERVE,
    SLOW,
    STUBBORN,
    SmallUp,
    small,
)


def wait_until(condition: Callable[[], bool], *, within: float = 5) -> None:
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.02)


def marks(pids: dict[str, int]) -> list[ProcessMark]:
    found = [find_mark(pid) for pid in pids.values()]
    return [mark for mark in found if mark is not None]


def test_a_part_starts_once_those_it_needs_are_ready(small_up: SmallUp) -> None:
    home = small_up({"second": small(SERVE, needs=["first"]), "first": small(SLOW)})
    home.expect("up")
    ready = [event["name"] for event in home.events if event["what"] == "PartReady"]
    assert ready == ["first", "second"]
    assert home.stop() == 0


def test_parts_stop_stage_by_stage(small_up: SmallUp) -> None:
    parts = {"last": small(SERVE, stage=2), "early": small(SERVE), "middle": small(SERVE, stage=1)}
    home = small_up(parts)
    home.expect("up")
    assert home.stop() == 0
    stopped = [event["name"] for event in home.drain() if event["what"] == "PartStopped"]
    assert stopped == ["early", "middle", "last"]
    assert list((home.folder / "run").glob("*.json")) == []


def test_a_killed_part_is_started_again_and_said(small_up: SmallUp) -> None:
    home = small_up({"a": small(SERVE), "b": small(SERVE)})
    pids = home.expect("up")["pids"]
    for name in ("a", "b"):
        os.kill(pids[name], signal.SIGKILL)
        ended = home.expect("PartEnded", name=name)
        assert ended["how"] == "was ended by SIGKILL"
        again = home.expect("PartReady", name=name)
        assert again["again"]
        assert again["pid"] != pids[name]
    assert home.stop() == 0


def test_a_part_that_keeps_ending_waits_longer_each_time(small_up: SmallUp) -> None:
    home = small_up({"a": small(SERVE)})
    pid = home.expect("up")["pids"]["a"]
    delays = []
    for _ in range(3):
        os.kill(pid, signal.SIGKILL)
        delays.append(home.expect("PartEnded")["delay"])
        pid = home.expect("PartReady")["pid"]
    assert delays == [0.2, 0.4, 0.8]
    assert home.stop() == 0


def test_a_part_that_cannot_be_started_again_just_now_is_tried_on(small_up: SmallUp) -> None:
    place = "desk"
    home = small_up({"a": small(SERVE, folder=place)})
    pid = home.expect("up")["pids"]["a"]
    desk = home.folder / place
    desk.rename(home.folder / "moved")
    os.kill(pid, signal.SIGKILL)
    assert home.expect("PartEnded")["how"] == "was ended by SIGKILL"
    assert "could not be started" in home.expect("PartEnded")["how"]
    (home.folder / "moved").rename(desk)
    assert home.expect("PartReady")["again"]
    assert home.stop() == 0


def test_a_part_runs_even_if_its_pid_cannot_be_noted(small_up: SmallUp) -> None:
    home = small_up({"a": small(SERVE)})
    pid = home.expect("up")["pids"]["a"]
    note = home.folder / "run" / "a.json"
    note.unlink()
    note.mkdir()  # nothing can be renamed into its place
    os.kill(pid, signal.SIGKILL)
    assert home.expect("PartReady")["again"]
    assert home.stop() == 0


def test_a_part_that_never_comes_up_ends_the_home_with_its_last_words(small_up: SmallUp) -> None:
    home = small_up({"good": small(SERVE), "bad": small(BROKEN)})
    assert home.process.wait(timeout=10) == 1
    assert home.process.stderr is not None
    said = home.process.stderr.read()
    assert "bad ended with exit code 7" in said
    assert "the disk is on fire" in said
    stopped = [event["name"] for event in home.drain() if event["what"] == "PartStopped"]
    assert stopped == ["good"]


def test_a_part_that_is_never_ready_ends_the_home(small_up: SmallUp) -> None:
    home = small_up({"mute": small(MUTE)})
    assert home.process.wait(timeout=10) == 1
    assert home.process.stderr is not None
    assert "mute was not ready after 3 s" in home.process.stderr.read()


def test_a_part_that_ignores_sigterm_is_killed_in_time(small_up: SmallUp) -> None:
    home = small_up({"deaf": small(STUBBORN)})
    home.expect("up")
    assert home.stop() == 0
    assert home.expect("PartStopped")["killed"]


def test_a_second_signal_makes_the_stop_quicker(small_up: SmallUp) -> None:
    home = small_up({"deaf": small(STUBBORN)})
    home.expect("up")
    home.process.send_signal(signal.SIGINT)
    home.expect("stopping")
    began = time.monotonic()
    assert home.stop() == 0
    assert time.monotonic() - began < 1.5, "patience is 2 s; the second signal cuts it short"


def test_a_signal_during_the_start_stops_it(small_up: SmallUp) -> None:
    home = small_up({"quick": small(SERVE), "mute": small(MUTE, needs=["quick"])})
    home.expect("PartReady")
    assert home.stop() == 0
    assert not [event for event in home.drain() if event["what"] == "up"]


def test_nothing_is_left_of_a_killed_supervisor_and_the_next_start_works(
    small_up: SmallUp,
) -> None:
    parts = {"a": small(SERVE), "deaf": small(STUBBORN)}
    home = small_up(parts)
    left = marks(home.expect("up")["pids"])
    assert len(left) == 2
    home.process.kill()
    home.process.wait()
    wait_until(lambda: not any(mark.alive for mark in left))
    again = small_up(parts)
    again.expect("up")
    assert again.stop() == 0


def test_what_escaped_its_leash_is_ended_by_the_next_start(small_up: SmallUp) -> None:
    home = small_up({"a": small(SERVE.replace("import os", f"{SLIP}\nimport os"))})
    left = marks(home.expect("up")["pids"])
    home.process.kill()
    home.process.wait()
    assert left[0].alive
    again = small_up({"a": small(SERVE)})
    assert again.expect("leftovers")["names"] == ["a"]
    again.expect("up")
    assert not left[0].alive
    assert again.stop() == 0


def test_a_pid_that_another_process_has_now_is_left_alone(small_up: SmallUp) -> None:
    home = small_up({"a": small(SERVE)})
    stranger = home.expect("up")["pids"]["a"]
    mark = find_mark(stranger)
    assert mark is not None
    run = home.folder.parent / "other" / "run"
    run.mkdir(parents=True)
    note = {"pid": mark.pid, "started": mark.started - 1, "boot": mark.boot}
    (run / "a.json").write_text(json.dumps(note))
    assert end_leftovers(run, seconds=1) == []
    assert mark.alive
    assert not list(run.iterdir())
    assert home.stop() == 0


def test_a_second_home_on_the_folder_is_told_who_has_it(small_up: SmallUp) -> None:
    first = small_up({"a": small(SERVE)})
    first.expect("up")
    second = small_up({"a": small(SERVE)})
    assert second.process.wait(timeout=10) == 2
    assert second.process.stderr is not None
    assert f"pid {first.process.pid}" in second.process.stderr.read()
    assert first.stop() == 0


def test_a_log_is_bounded_and_keeps_the_newest(small_up: SmallUp) -> None:
    talk = "for i in range(2000): print('line', i, flush=i % 50 == 0)\n"
    home = small_up({"a": small(talk + SERVE)})
    home.expect("up")
    assert home.stop() == 0
    logs = sorted((home.folder / "logs").iterdir())
    assert [log.name for log in logs] == ["a.log", "a.log.1"]
    assert sum(log.stat().st_size for log in logs) < 100_000
    assert "line 1999" in (logs[0].read_text() or logs[1].read_text())


SLIP = "import ctypes; ctypes.CDLL(None).prctl(1, 0)"
"""Takes the leash off, as a program could that changes its user."""
