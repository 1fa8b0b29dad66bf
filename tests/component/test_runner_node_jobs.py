"""Node builds as jobs: install scripts are as untrusted as any other program of a stranger."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from sless.local.runner.settings import RunnerSettings
from sless.model.attempt import AttemptState, AttemptStatus
from tests.component.npm_registry import Registry, publishing
from tests.component.runner_home import RunnerHome, eventually, running

pytestmark = pytest.mark.real

RUNTIME = "node20"
PATIENCE = f"1001.{os.getpid()}"
"""What the endless sleep for: tells their processes apart from all others."""
ENDLESS = f"""
const {{ spawn }} = require("node:child_process");
spawn("sleep", ["{PATIENCE}"], {{ detached: true, stdio: "ignore" }}).unref();
spawn("env", ["-i", "/usr/bin/setsid", "/bin/sleep", "{PATIENCE}"], {{ stdio: "ignore" }});
setInterval(() => {{}}, 1000);
"""
SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "a-key-of-the-platform",
    "SLESS_TOKEN": "a-token-of-the-platform",
    "NPM_TOKEN": "a-token-to-publish-with",
    "HTTPS_PROXY": "http://tenant:a-tenants-password@proxy.example:3128",
}


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with publishing(tmp_path_factory.mktemp("registry")) as made:
        script = {"postinstall": "node run.js"}
        made.publish("endless", {"run.js": ENDLESS}, scripts=script)
        told = "console.error(JSON.stringify(process.env)); process.exit(1)"
        made.publish("curious", {"run.js": told}, scripts=script)
        yield made


@pytest.fixture
async def home(tmp_path: Path, registry: Registry) -> AsyncIterator[RunnerHome]:
    def adjust(settings: RunnerSettings) -> RunnerSettings:
        direct = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1")
        environ = {**settings.environ, **SECRETS, **direct}
        return replace(settings, environ=environ, npm_registry=registry.url)

    async with running(tmp_path, adjust=adjust) as made:
        yield made


async def build(home: RunnerHome, files: Mapping[str, str], *, deadline: int = 60) -> AttemptStatus:
    attempt = replace(home.attempt(files, runtime=RUNTIME), deadline_seconds=deadline)
    await home.start(attempt)
    return await home.ended(attempt)


def wanting(name: str) -> dict[str, str]:
    return {"index.js": "", "package.json": json.dumps({"dependencies": {name: "1"}})}


def sleepers() -> int:
    """How many processes an endless install script has started."""
    found = 0
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += entry.read_bytes().split(b"\0")[1:2] == [PATIENCE.encode()]
        except OSError:
            continue
    return found


async def test_the_deadline_ends_an_install_script_and_all_that_it_forked(
    home: RunnerHome,
) -> None:
    building = asyncio.create_task(build(home, wanting("endless"), deadline=20))
    await eventually(lambda: sleepers() == 2)
    status = await building
    assert (status.state, status.reason) == (AttemptState.FAILED, "BuildTimedOut")
    assert sleepers() == 0
    await eventually(lambda: not home.processes())
    assert list((home.data / "images/temporary").iterdir()) == []


async def test_an_install_script_sees_no_key_of_the_platform_and_shows_no_password(
    home: RunnerHome,
) -> None:
    status = await build(home, wanting("curious"))
    assert (status.state, status.reason) == (AttemptState.FAILED, "DependencyInstallFailed")
    log = await home.log()
    assert '"HTTPS_PROXY":"$HTTPS_PROXY"' in log, "the environment was shown, and masked"
    for text in (log, status.message):
        assert not [value for value in SECRETS.values() if value in text]
    for name in ("AWS_SECRET_ACCESS_KEY", "SLESS_TOKEN", "NPM_TOKEN"):
        assert name not in log
