"""The whole home: it comes up, heals, stops, and goes on."""

import socket
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sless.local.pidfile import ProcessMark, find_mark
from tests.e2e.running import SLESS, RunningHome, wait_until

pytestmark = pytest.mark.real

PARTS = ("weed", "temporal", "envoy", "runner", "worker", "watcher", "api")
HELLO = Path(__file__).parents[2] / "examples" / "hello"
LEFT_SECONDS = 5.0


def test_every_killed_part_comes_back_and_functions_answer(home: RunningHome) -> None:
    home.done("deploy", str(HELLO), "--name", "killed")
    since = len(home.said)  # Other tests kill parts of the same home.
    for part in PARTS:
        home.kill_part(part)
    for part in PARTS:
        wait_until(
            partial(home.has_said, f"{part} serves again.", since=since),
            within=60,
            what=f"{part} serves again",
        )
    home.done("deploy", str(HELLO), "--name", "after")
    for name in ("killed", "after"):
        wait_until(partial(answers, home, name), within=20, what=f"{name} answers")
        home.done("delete", name, "--yes")


def test_a_stop_keeps_everything_and_a_kill_loses_nothing(
    make_home: Callable[[], RunningHome],
) -> None:
    home = make_home()
    home.start()
    home.wait_up()
    home.done("deploy", str(HELLO), "--name", "hello")
    built = history(home)
    assert home.stop() == 0, home.tail()
    assert not home.layout.home.exists()
    home.start()
    home.wait_up()
    left = everything_of(home)
    home.kill()
    wait_until(
        lambda: not any(mark.alive for mark in left),
        within=LEFT_SECONDS,
        what=lambda: f"nothing is left, but {[words_of(mark) for mark in left if mark.alive]}",
    )
    home.start()
    home.wait_up()
    wait_until(partial(answers, home, "hello"), within=20, what="the function answers")
    assert history(home) == built
    assert "Fetched the build context" in home.done("logs", "hello")
    assert home.stop() == 0, home.tail()


def test_a_function_gets_the_newest_runtime_that_the_machine_has(home: RunningHome) -> None:
    offered = home.json("runtimes")["items"]
    present = [item["name"] for item in offered if not item["missing"]]
    pythons = [name for name in present if name.startswith("python")]
    home.done("deploy", str(HELLO), "--name", "newest")
    newest = max(pythons, key=lambda name: int(name.rpartition(".")[2]))
    assert home.json("get", "newest")["spec"]["runtime"] == newest
    home.done("delete", "newest", "--yes")


def test_who_comes_second_is_told_so(home: RunningHome) -> None:
    again = up("--data", str(home.folder))
    assert again.returncode == 2
    assert f"pid {home.process.pid}" in again.stderr
    assert home.facts.api in again.stderr


def test_a_taken_port_is_named_with_its_option(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = up("--data", str(tmp_path / "data"), "--gateway-port", str(port), "--port", "0")
    assert refused.returncode == 2
    assert f"Port {port} " in refused.stderr
    assert "--gateway-port" in refused.stderr
    assert "the gateway" in refused.stderr


def test_no_secret_is_in_a_command_line_or_open_to_others(home: RunningHome) -> None:
    token = home.layout.token.read_text()
    secret = home.layout.s3_credentials.read_text().split('"')[-2]
    for mark in everything_of(home):
        words = words_of(mark)
        assert token not in words
        assert secret not in words
    assert home.folder.stat().st_mode & 0o077 == 0
    assert home.layout.token.stat().st_mode & 0o077 == 0


def answers(home: RunningHome, name: str) -> bool:
    return home.call(f"default/{name}/").is_success


def history(home: RunningHome) -> list[tuple[str, str, str]]:
    builds = home.json("builds", "hello")["items"]
    return [(build["id"], build["phase"], build["image"]) for build in builds]


def up(*options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [SLESS, "up", *options], capture_output=True, text=True, timeout=30, check=False
    )


def words_of(mark: ProcessMark) -> str:
    try:
        return Path(f"/proc/{mark.pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def everything_of(home: RunningHome) -> list[ProcessMark]:
    """The supervisor's descendants, functions included."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found = {home.process.pid}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    marks = [find_mark(pid) for pid in found - {home.process.pid}]
    return [mark for mark in marks if mark is not None]
