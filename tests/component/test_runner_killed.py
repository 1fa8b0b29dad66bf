"""SIGKILL of the runner in mid build and mid request: no orphan, and the next one goes on."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sless.model.attempt import AttemptState
from tests.component.contexts import HELLO
from tests.component.deploying import Deploying
from tests.component.runner_home import RunnerHome, a_home, eventually, running, shared_cache
from tests.component.test_runner_jobs import ENDLESS, sleepers

pytestmark = pytest.mark.real

FORKING = (
    "import subprocess\nsubprocess.run(['sh', '-c', 'setsid sleep 1000.75 >/dev/null 2>&1 &'])\n"
    + HELLO
)


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[RunnerHome]:
    async with a_home(tmp_path) as made:
        yield made


@contextlib.asynccontextmanager
async def runner_process(home: RunnerHome) -> AsyncIterator[asyncio.subprocess.Process]:
    """The home's runner as a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "sless.local.roles.runner",
        env={**os.environ, "SLESS_DATA": str(home.data), "UV_CACHE_DIR": str(shared_cache())},
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


@pytest.fixture
def deploying(home: RunnerHome) -> Deploying:
    return Deploying(home)


async def test_a_killed_runner_leaves_no_orphan_and_the_next_one_recovers(
    tmp_path: Path, home: RunnerHome, deploying: Deploying
) -> None:
    attempt = home.attempt(home.requiring(ENDLESS))
    async with runner_process(home) as runner:
        await deploying.deploy({"handler.py": FORKING})
        row = await deploying.ready()
        await home.start(attempt)
        await eventually(lambda: len(sleepers()) == 3)
        os.kill(runner.pid, signal.SIGKILL)
        await runner.wait()
        # The build ends by itself; of the function only what left its tree waits for the next one.
        await eventually(lambda: not sleepers())
        await eventually(lambda: not Path(f"/proc/{row.pid}").exists())
    left = set(home.processes())
    assert len(left) == 1
    async with running(tmp_path) as again:
        assert not left & set(again.processes())
        status = await again.ended(attempt)
        assert (status.state, status.reason) == (AttemptState.FAILED, "BuildLost")
        assert (await again.build({"handler.py": HELLO})).state is AttemptState.SUCCEEDED
        assert await deploying.get(await deploying.ready(other_than=row.pid)) == (200, b"hello")
        await deploying.delete()


async def test_a_result_that_was_not_taken_is_taken_by_the_next_runner(
    tmp_path: Path, home: RunnerHome
) -> None:
    attempt = home.attempt({"handler.py": HELLO})
    async with runner_process(home):
        await home.start(attempt)
        done = await home.ended(attempt)
    # As if the runner had died between the job's end and its row.
    await home.database.write(
        lambda connection: connection.execute("UPDATE jobs SET state = 'Running', digest = ''")
    )
    async with running(tmp_path) as again:
        assert await again.ended(attempt) == done


async def test_a_runner_told_to_end_ends_its_functions(
    home: RunnerHome, deploying: Deploying
) -> None:
    async with runner_process(home) as runner:
        await deploying.deploy({"handler.py": FORKING})
        await deploying.ready()
        runner.terminate()
        assert await runner.wait() == 0
    assert home.processes() == []
    assert await deploying.rows() == []
