import os
import pty
import re
import select
import signal
import struct
import subprocess
import time
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

from tests.component.cli.conftest import SLESS, Cli
from tests.component.cli.scripted_api import ScriptedApi

_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A command that runs on a terminal of its own."""

    def __init__(self, cli: Cli, *words: str, columns: int = 100, **env: str) -> None:
        self._main, other = pty.openpty()
        ioctl(other, TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen(
            [SLESS, *words],
            env=cli.env | {"TERM": "xterm-256color", **env},
            cwd=cli.cwd,
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
        )
        cli.started.append(self.process)
        os.close(other)
        self.seen = ""

    def read_until(self, text: str) -> str:
        """What was shown so far, once it includes that text; empty for the end."""
        deadline = time.monotonic() + 20
        while not text or text not in self.seen:
            assert time.monotonic() < deadline, f"{text!r} did not appear in {self.seen!r}"
            if not select.select([self._main], [], [], 0.1)[0]:
                continue
            try:
                data = os.read(self._main, 65536)
            except OSError:  # What Linux answers once the other end is closed.
                data = b""
            if not data:
                assert not text, f"{text!r} did not appear in {self.seen!r}"
                break
            self.seen += data.decode(errors="replace")
        return self.seen

    def type(self, text: str) -> None:
        os.write(self._main, text.encode())

    def end(self) -> tuple[int, str]:
        """The exit code, and what was shown."""
        shown = self.read_until("")
        os.close(self._main)
        return self.process.wait(10), shown


def test_progress_is_live_and_leaves_a_record(sless: Cli, api: ScriptedApi, hello: Path) -> None:
    code, shown = Terminal(sless, "deploy", str(hello)).end()
    plain = _SEQUENCE.sub("", shown)
    assert code == 0
    assert "✓ Building" in plain
    assert "✓ Deploying" in plain
    assert "  Installed 1\r\n" in plain
    assert plain.rstrip().endswith(f"{api.url}/fn/default/hello-world")
    assert "\x1b[?25h" in shown  # The cursor is shown again.


def test_no_color_is_honoured(sless: Cli, api: ScriptedApi, hello: Path) -> None:
    api.log = [("1", "\x1b[31mred\x1b[0m\n")]
    coloured = r"\x1b\[[0-9;]*3[0-9]"
    _, shown = Terminal(sless, "deploy", str(hello)).end()
    assert re.search(coloured, shown)
    _, shown = Terminal(sless, "deploy", str(hello), NO_COLOR="1").end()
    assert not re.search(coloured, shown)
    assert "red" in shown
    _, shown = Terminal(sless, "get", "x", NO_COLOR="1").end()
    assert not re.search(coloured, shown)


def test_a_log_cannot_steer_the_terminal(sless: Cli, api: ScriptedApi, hello: Path) -> None:
    api.log = [("1", "\x1b]0;owned\x07before\x1b[2Jafter\n")]
    _, shown = Terminal(sless, "deploy", str(hello), "--no-wait").end()
    api.builds = [{"id": "0123456789ab"}]
    _, shown = Terminal(sless, "logs", "hello-world").end()
    assert shown == "beforeafter\r\n"


def test_a_narrow_terminal_gets_a_block_per_row(sless: Cli, api: ScriptedApi) -> None:
    api.ask("default", "a")
    _, wide = Terminal(sless, "list", columns=120).end()
    _, narrow = Terminal(sless, "list", columns=40).end()
    assert wide.startswith("NAME  NAMESPACE")
    assert narrow.splitlines()[:2] == ["NAME       a", "NAMESPACE  default"]


def test_an_answer_leaves_the_prompt_on_a_line_of_its_own(sless: Cli, api: ScriptedApi) -> None:
    api.ask("default", "a")
    assert Terminal(sless, "invoke", "a", "-d", "no end").end() == (0, "no end\r\n")
    assert Terminal(sless, "invoke", "a", "-d", "an end\n").end() == (0, "an end\r\n")


def test_delete_asks_about_nothing_that_is_not_there(sless: Cli) -> None:
    code, shown = Terminal(sless, "delete", "a").end()
    assert (code, "[y/N]" in shown, "[FunctionNotFound]" in shown) == (1, False, True)


def test_delete_asks_a_person(sless: Cli, api: ScriptedApi) -> None:
    api.ask("default", "a")
    terminal = Terminal(sless, "delete", "a")
    terminal.read_until("Delete default/a and stop what it serves? [y/N]")
    terminal.type("n\n")
    code, shown = terminal.end()
    assert (code, "default/a was not deleted." in shown) == (1, True)
    terminal = Terminal(sless, "delete", "a")
    terminal.read_until("[y/N]")
    terminal.type("y\n")
    assert terminal.end()[0] == 0
    assert api.functions == {}


def test_ctrl_c_leaves_a_clean_terminal(sless: Cli, api: ScriptedApi, hello: Path) -> None:
    api.phases = [{"phase": "Building"}]
    terminal = Terminal(sless, "deploy", str(hello))
    terminal.read_until("Building")
    terminal.process.send_signal(signal.SIGINT)
    code, shown = terminal.end()
    assert code == 130
    assert "the work goes on" in shown
    assert "Traceback" not in shown
    assert shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l")


def test_letters_that_a_terminal_lacks_are_replaced(
    sless: Cli, api: ScriptedApi, hello: Path
) -> None:
    api.log = [("1", "naïve ✨\n")]
    code, shown = Terminal(sless, "deploy", str(hello), PYTHONIOENCODING="ascii").end()
    assert code == 0
    assert "na?ve ?" in shown
    assert "✓" not in shown
