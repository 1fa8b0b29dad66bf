"""Build jobs against real processes: hostile, endless, hungry, killed."""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from sless.adapters.sqlite.jobs import find_job, insert_job, list_jobs
from sless.local.layout import Layout
from sless.local.runner.settings import MIB, RunnerSettings
from sless.model.attempt import AttemptState
from sless.naming import job_name
from tests.component.contexts import HELLO, IN_TREE, silence
from tests.component.runner_home import BUILD, DEADLINE, F, RunnerHome, eventually, running

pytestmark = pytest.mark.real

PATIENCE = f"1000.{os.getpid()}"
"""What the endless sleep for: tells their processes apart from all others, other tests' too."""
ENDLESS = {
    "pyproject.toml": IN_TREE,
    # One child of its own, one that left for a session of its own, one without our environment.
    "backend.py": (
        "import subprocess, time\n"
        f"subprocess.Popen(['sleep', '{PATIENCE}'])\n"
        f"subprocess.run(['sh', '-c', 'setsid sleep {PATIENCE} &'])\n"
        "subprocess.run(['env', '-i', '/bin/sh', '-c',"
        f" '/usr/bin/setsid /bin/sleep {PATIENCE} &'])\n"
        "time.sleep(1000)\n"
    ),
}
SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "a-key-of-the-platform",
    "TEMPORAL_ADDRESS": "temporal.example:7233",
    "SLESS_TOKEN": "a-token-of-the-platform",
    "UV_PUBLISH_TOKEN": "a-token-to-publish-with",
    "UV_INDEX_INTERNAL_PASSWORD": "a-tenants-password",
}


def sleepers() -> set[int]:
    """The processes that an endless build started."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:2] in ([b"sleep", PATIENCE.encode()], [b"/bin/sleep", PATIENCE.encode()]):
                found.add(int(entry.name))
    return found


def _adjusted(settings: RunnerSettings) -> RunnerSettings:
    environ = {**settings.environ, **SECRETS, "UV_HTTP_RETRIES": "0", "UV_HTTP_TIMEOUT": "2"}
    return replace(settings, environ=environ, build_memory_bytes=300 * MIB)


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[RunnerHome]:
    async with running(tmp_path, adjust=_adjusted) as made:
        yield made


async def test_the_deadline_ends_a_build_and_all_that_it_forked(home: RunnerHome) -> None:
    building = asyncio.create_task(home.build(home.requiring(ENDLESS), deadline=10))
    await eventually(lambda: len(sleepers()) == 3)
    status = await building
    assert (status.state, status.reason) == (AttemptState.FAILED, "BuildTimedOut")
    assert "10 s" in status.message
    assert not sleepers()
    await eventually(lambda: not home.processes())


async def test_a_deleted_build_leaves_nothing(home: RunnerHome) -> None:
    attempt = home.attempt(home.requiring(ENDLESS))
    await home.start(attempt)
    await eventually(lambda: len(sleepers()) == 3)
    await home.builder.delete(attempt)
    assert not sleepers()
    assert not home.processes()
    assert list((home.data / "jobs").iterdir()) == []
    assert list((home.data / "images/temporary").iterdir()) == []


async def test_what_a_finished_step_left_behind_is_ended(home: RunnerHome) -> None:
    backend = (
        "import subprocess\n"
        f"subprocess.run(['sh', '-c', 'setsid sleep {PATIENCE} >/dev/null 2>&1 &'])\n"
        "raise SystemExit('enough')\n"
    )
    files = {"pyproject.toml": IN_TREE, "backend.py": backend}
    status = await home.build(home.requiring(files))
    assert status.reason == "DependencyInstallFailed"
    assert not sleepers()


async def test_a_build_sees_no_key_of_the_platform_and_shows_no_password(home: RunnerHome) -> None:
    backend = "import os, json\nraise RuntimeError(json.dumps(dict(os.environ)))\n"
    status = await home.build(home.requiring({"pyproject.toml": IN_TREE, "backend.py": backend}))
    assert status.state is AttemptState.FAILED
    log = await home.log()
    assert "UV_INDEX_INTERNAL_PASSWORD" in log, "the environment was shown, and masked"
    for text in (log, status.message):
        assert not [value for value in SECRETS.values() if value in text]
    for name in ("AWS_SECRET_ACCESS_KEY", "TEMPORAL_ADDRESS", "SLESS_TOKEN", "UV_PUBLISH_TOKEN"):
        assert name not in log


async def test_too_much_memory_is_told_with_the_limit(home: RunnerHome) -> None:
    backend = "hold = bytearray(800 * 1024 * 1024)\nimport time\ntime.sleep(1000)\n"
    status = await home.build(home.requiring({"pyproject.toml": IN_TREE, "backend.py": backend}))
    assert status.reason == "OutOfMemory"
    assert "300 MiB" in status.message


async def test_an_index_that_refuses_or_is_silent_is_told_from_a_missing_package(
    home: RunnerHome,
) -> None:
    with silence() as silent:
        for index in (f"{silent}/simple", "http://127.0.0.1:9/simple"):
            status = await home.build(
                {"handler.py": HELLO, "requirements.txt": f"--index-url {index}\nsix"}
            )
            assert status.reason == "IndexUnavailable", status
    missing = {"handler.py": HELLO, "requirements.txt": "no-such-package-of-anybody"}
    status = await home.build(missing)
    assert status.reason == "DependencyInstallFailed"
    assert "no-such-package-of-anybody was not found" in status.message


async def test_the_compilers_own_line_is_told(home: RunnerHome) -> None:
    status = await home.build(
        home.requiring(
            {
                "setup.py": (
                    "from setuptools import setup, Extension\n"
                    "setup(name='NAME', version='1.0', ext_modules=[Extension('m', ['m.c'])])\n"
                ),
                "m.c": "#include <no_such_header.h>\n",
            }
        )
    )
    assert status.reason == "DependencyInstallFailed"
    assert "m.c:1:10: fatal error: no_such_header.h" in status.message


async def test_no_more_builds_run_than_are_allowed(home: RunnerHome) -> None:
    attempts = [home.attempt(home.requiring(ENDLESS)) for _ in range(3)]
    for attempt in attempts:
        await home.start(attempt)
    await eventually(lambda: len(sleepers()) == 6)
    states = sorted([(await home.builder.status(attempt)).state for attempt in attempts])
    assert states == [AttemptState.PENDING, AttemptState.RUNNING, AttemptState.RUNNING]
    for attempt in attempts:
        await home.builder.delete(attempt)
    assert not sleepers()


async def test_a_context_that_is_not_there_is_a_bad_minute(home: RunnerHome) -> None:
    attempt = home.attempt({"handler.py": HELLO})
    (home.web / attempt.context_sha256).unlink()
    await home.start(attempt)
    assert (await home.ended(attempt)).reason == "StorageUnavailable"


async def test_a_context_with_other_bytes_is_refused(home: RunnerHome) -> None:
    attempt = home.attempt({"handler.py": HELLO})
    other = home.attempt({"handler.py": HELLO + "# other"})
    (home.web / other.context_sha256).replace(home.web / attempt.context_sha256)
    await home.start(attempt)
    status = await home.ended(attempt)
    assert (status.state, status.reason) == (AttemptState.FAILED, "StorageUnavailable")


async def test_a_missing_interpreter_is_told_with_what_is_there(home: RunnerHome) -> None:
    attempt = replace(home.attempt({"handler.py": HELLO}), runtime="python3.99")
    await home.start(attempt)
    status = await home.ended(attempt)
    assert status.reason == "RuntimeUnavailable"
    assert "python3.11" in status.message


async def test_only_so_many_ended_jobs_are_kept(home: RunnerHome) -> None:
    attempt = home.attempt({"handler.py": HELLO})
    await home.start(attempt)
    await home.ended(attempt)
    await home.database.write(_copy_job, name=job_name(F.name, BUILD, attempt.nonce), copies=205)
    async with asyncio.timeout(DEADLINE):
        while True:
            kept = {job.nonce for job in await home.database.read(list_jobs)}
            if len(kept) <= 200:
                break
            await asyncio.sleep(0.02)
    assert len(kept) == 200
    assert attempt.nonce in kept, "the newest stay"


def _copy_job(connection: sqlite3.Connection, *, name: str, copies: int) -> None:
    job = find_job(connection, name)
    assert job
    for number in range(copies):
        copy = replace(job, name=f"old-{number}", nonce=f"old-{number}")
        assert insert_job(connection, copy)


async def test_one_that_gets_no_folder_is_lost(home: RunnerHome) -> None:
    jobs = home.data / "jobs"
    jobs.rmdir()
    jobs.touch()
    status = await home.build({"handler.py": HELLO}, deadline=10)
    assert (status.state, status.reason) == (AttemptState.FAILED, "BuildLost")


async def test_a_defects_traceback_is_in_the_runners_log(home: RunnerHome) -> None:
    images = Layout(home.settings.data).images
    images.unlink()
    images.write_text("no folder")
    with capture_logs() as logged:
        status = await home.build({"handler.py": HELLO})
    assert status.reason == "InternalError"
    assert "runner.log" in status.message
    assert any("NotADirectoryError" in str(line.get("said")) for line in logged)
