"""Functions as processes: started, probed, replaced, crashed, stopped; with real processes."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from sless.adapters.bundles.interpreters import find_interpreter
from sless.adapters.sqlite.warnings import SqliteWarnings
from sless.local.runner.settings import RunnerSettings
from sless.model.deployment import Progress
from sless.model.function import EnvVar
from sless.model.instance import InstanceState
from tests.component.contexts import HELLO
from tests.component.deploying import Deploying
from tests.component.runner_home import RunnerHome, eventually, running

pytestmark = pytest.mark.real

SERVER = """\
import http.server, os, sys

class Prefix(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(os.fsencode(os.path.realpath(sys.prefix)))

http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Prefix).serve_forever()
"""
"""Answers where its interpreter is installed."""


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[RunnerHome]:
    async with running(tmp_path, adjust=_drain_quickly) as made:
        yield made


def _drain_quickly(settings: RunnerSettings) -> RunnerSettings:
    return replace(settings, drain_seconds=3)


@pytest.fixture
async def deploying(home: RunnerHome) -> AsyncIterator[Deploying]:
    made = Deploying(home)
    yield made
    await made.delete()


async def test_a_function_answers(deploying: Deploying) -> None:
    await deploying.deploy({"handler.py": HELLO})
    row = await deploying.ready()
    assert await deploying.get(row) == (200, b"hello")
    assert (await deploying.availability()).progress is Progress.AVAILABLE


async def test_its_environment_is_its_own(deploying: Deploying) -> None:
    code = "import os, json\ndef handler(request):\n    return json.dumps(dict(os.environ))\n"
    env = (EnvVar("A", "1"), EnvVar("B", "$(A)2"), EnvVar("C", "$$(A) $(D)"), EnvVar("D", "4"))
    os.environ["AWS_SECRET_ACCESS_KEY"] = "a key of the platform"
    try:
        await deploying.deploy({"handler.py": code}, env=env)
        seen = await deploying.json(await deploying.ready())
    finally:
        del os.environ["AWS_SECRET_ACCESS_KEY"]
    assert {name: seen[name] for name in "ABCD"} == {
        "A": "1",
        "B": "12",
        "C": "$(A) $(D)",
        "D": "4",
    }
    assert not {name for name in seen if name.startswith(("AWS_", "TEMPORAL_", "UV_", "PIP_"))}


async def test_a_program_finds_its_runtime_as_python(tmp_path: Path) -> None:
    """As in a container's image, though Debian's folder of programs has no `python`."""
    alone = tmp_path / "python3.11"
    alone.symlink_to(find_interpreter("python3.11", configured={}).path)
    async with running(
        tmp_path, adjust=lambda settings: replace(settings, interpreters={"python3.11": alone})
    ) as home:
        deploying = Deploying(home)
        for name in ("python", "python3", "python3.11"):
            await deploying.deploy({"server.py": SERVER, "Procfile": f"web: {name} server.py\n"})
            row = await deploying.ready()
            assert await deploying.get(row) == (200, os.fsencode(alone.resolve().parent.parent))
            await deploying.route(row)
        await deploying.delete()


async def test_the_old_process_goes_on_until_the_route_has_moved(deploying: Deploying) -> None:
    await deploying.deploy({"handler.py": HELLO})
    old = await deploying.ready()
    await deploying.deploy({"handler.py": HELLO.replace("hello", "bye")})
    new = await deploying.ready()
    assert await deploying.get(old) == (200, b"hello")
    assert await deploying.get(new) == (200, b"bye")
    await deploying.route(new)
    await eventually(lambda: not Path(f"/proc/{old.pid}").exists())
    assert await deploying.get(new) == (200, b"bye")
    await deploying.only(new.instance)


async def test_a_slow_answer_survives_the_drain(deploying: Deploying) -> None:
    slow = HELLO.replace("return", "__import__('time').sleep(2)\n    return")
    await deploying.deploy({"handler.py": slow})
    old = await deploying.ready()
    await deploying.deploy({"handler.py": HELLO})
    new = await deploying.ready()
    await deploying.route(new)
    assert await deploying.get(old) == (200, b"hello")
    await eventually(lambda: not Path(f"/proc/{old.pid}").exists())


async def test_a_broken_import_fails_with_its_last_line_and_the_old_one_answers(
    deploying: Deploying,
) -> None:
    await deploying.deploy({"handler.py": HELLO})
    old = await deploying.ready()
    await deploying.route(old)
    await deploying.deploy({"handler.py": "import nothing_like_it\n" + HELLO})
    judged = await deploying.judged()
    assert (judged.progress, judged.reason) == (Progress.FAILED, "HandlerImportFailed")
    assert "nothing_like_it" in judged.message
    assert await deploying.get(old) == (200, b"hello")
    await deploying.put_back()
    await deploying.only(old.instance)
    assert await deploying.get(old) == (200, b"hello")


async def test_a_program_that_ends_is_told_with_its_last_lines(deploying: Deploying) -> None:
    command = ("/bin/sh", "-c", "echo one; echo the disk is on fire >&2; exit 7")
    await deploying.deploy({"handler.py": HELLO}, command=command)
    judged = await deploying.judged()
    assert (judged.progress, judged.reason) == (Progress.FAILED, "FunctionCrashed")
    assert "exit code 7" in judged.message
    assert "the disk is on fire" in judged.message
    (warning,) = await SqliteWarnings(deploying.home.database).find(deploying.ref, build="")
    assert (warning.reason, warning.message) == (judged.reason, judged.message.replace("\n", " "))
    assert warning.count > 1


async def test_a_crash_after_ready_starts_again_and_leaves_nothing(deploying: Deploying) -> None:
    """The process has children, one of them in a session of its own and without a parent."""
    code = (
        "import os, subprocess\n"
        "subprocess.Popen(['sleep', '1000'])\n"
        "subprocess.run(['sh', '-c', 'setsid sleep 1000 &'])\n" + HELLO
    )
    await deploying.deploy({"handler.py": code})
    first = await deploying.ready()
    before = set(deploying.home.processes())
    assert len(before) == 3
    os.kill(first.pid, signal.SIGKILL)
    await eventually(lambda: not before & set(deploying.home.processes()))
    second = await deploying.ready(other_than=first.pid)
    assert second.restarts == 1
    assert await deploying.get(second) == (200, b"hello")
    (warning,) = await SqliteWarnings(deploying.home.database).find(deploying.ref, build="")
    assert (warning.about, warning.reason) == (f"process {second.instance}", "FunctionCrashed")
    assert (warning.count, "another one serves now" in warning.message) == (1, True)


async def test_a_deleted_function_ends(deploying: Deploying) -> None:
    await deploying.deploy({"handler.py": HELLO})
    row = await deploying.ready()
    await deploying.delete()
    await eventually(lambda: not Path(f"/proc/{row.pid}").exists())
    await deploying.gone()
    assert list((deploying.home.data / "functions").rglob("*.json")) == []


async def test_output_goes_to_the_functions_log(deploying: Deploying) -> None:
    await deploying.deploy({"handler.py": "print('good morning')\n" + HELLO})
    await deploying.ready()
    log = deploying.home.data / "logs/functions/team/thumb.log"
    await eventually(lambda: "good morning" in log.read_text())


async def test_idle_functions_cost_nothing(deploying: Deploying) -> None:
    await deploying.deploy({"handler.py": HELLO})
    row = await deploying.ready()
    ticks = _ticks(row.pid) + _ticks(os.getpid())
    await asyncio.sleep(2)
    spent = (_ticks(row.pid) + _ticks(os.getpid()) - ticks) / os.sysconf("SC_CLK_TCK")
    assert spent < 0.3
    assert (await deploying.ready()).state is InstanceState.READY


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


async def test_what_cannot_be_started_at_all_is_judged(deploying: Deploying) -> None:
    # No Function gets as far as this: it stands for every defect on the way to a process.
    await deploying.deploy({"handler.py": HELLO}, env=(EnvVar("A=B", "1"),))
    judged = await deploying.judged()
    assert (judged.progress, judged.reason) == (Progress.FAILED, "InternalError")
