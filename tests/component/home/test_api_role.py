"""The API's process of the embedded home, told of an issuer by its environment."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from sless.local.layout import Layout
from sless.local.temporal import TemporalServer
from sless.roots.envoy_settings import envoy_settings
from sless.settings import read_settings
from sless.tokens import ISSUER, ensure_signing_key
from tests.fixtures.issuer import RealIssuer
from tests.fixtures.ports import free_port
from tests.fixtures.seaweed import ACCESS_KEY, SECRET_KEY, RunningSeaweed
from tests.issuer.signing import AUDIENCE

pytestmark = pytest.mark.real

START_SECONDS = 60
MINUTE = timedelta(minutes=1)
COMMAND = (sys.executable, "-m", "sless.local.roles.api")
PATH = "/v1/namespaces/{}/functions"


def issuers(url: str) -> str:
    """As an operator writes them."""
    issuer = {"url": url, "audience": AUDIENCE, "claim": "groups", "allow_http": True}
    return json.dumps([{**issuer, "template": "team-{namespace}"}])


@asynccontextmanager
async def api_role(environ: Mapping[str, str]) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the process, once it is ready."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        env={**os.environ, **environ, "SLESS_API__PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as api:
            await wait_ready(api, process)
            yield api
    finally:
        process.terminate()
        assert await asyncio.wait_for(process.wait(), 30) == 0


async def wait_ready(api: httpx.AsyncClient, process: asyncio.subprocess.Process) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.returncode is None
        try:
            if (await api.get("/healthz")).status_code == 200:
                return
        except httpx.ConnectError:
            await asyncio.sleep(0.05)
    pytest.fail("the API does not answer")


async def status(api: httpx.AsyncClient, token: str, namespace: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return (await api.get(PATH.format(namespace), headers=headers)).status_code


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path)
    layout.uploads.mkdir(parents=True)
    return layout


@pytest.fixture
def environ(
    tmp_path: Path, seaweed: RunningSeaweed, temporal_server: TemporalServer
) -> dict[str, str]:
    """What the home tells its API."""
    return {
        "SLESS_DATA": str(tmp_path),
        "SLESS_STORAGE__ENDPOINT": seaweed.endpoint.url,
        "TEMPORAL_ADDRESS": temporal_server.address,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
    }


async def test_it_takes_tokens_of_the_issuer_and_of_its_own_key(
    layout: Layout, environ: dict[str, str], issuer: RealIssuer
) -> None:
    environ |= {"SLESS_TOKENS__ISSUERS": issuers(issuer.url)}
    async with api_role(environ) as api:
        for algorithm in ("RS256", "ES256", "EdDSA"):
            theirs = await issuer.token(algorithm)
            assert await status(api, theirs, "a") == 200
            assert await status(api, theirs, "c") == 404
        key = ensure_signing_key(layout.keys)
        own = key.sign(sub="ann", namespaces=["c"], ttl=MINUTE)
        assert await status(api, own, "c") == 200
        assert await status(api, own, "a") == 404
        issuer.kill()
        assert await status(api, theirs, "a") == 200


async def test_its_first_answer_tells_which_runtimes_the_machine_lacks(
    layout: Layout, environ: dict[str, str]
) -> None:
    ours = f"python{sys.version_info.major}.{sys.version_info.minor}"
    offered = [ours, "python3.99", "node999"]
    async with api_role(environ | {"SLESS_RUNTIMES__OFFERED": json.dumps(offered)}) as api:
        token = ensure_signing_key(layout.keys).sign(sub="ann", namespaces=["a"], ttl=MINUTE)
        headers = {"Authorization": f"Bearer {token}"}
        answer = await api.get("/v1/runtimes", headers=headers, timeout=START_SECONDS)
    missing = {item["name"]: item["missing"] for item in answer.json()["items"]}
    assert list(missing) == offered
    assert missing[ours] == ""
    assert f"no interpreter for python3.99 (there is {ours}" in missing["python3.99"]
    assert "node999" in missing["node999"]


def test_a_setting_that_cannot_be_ends_it_with_its_name(tmp_path: Path) -> None:
    environ = {**os.environ, "SLESS_DATA": str(tmp_path), "SLESS_TOKENS__ISSUERS": '[{"url": "x"}]'}
    ended = subprocess.run(
        COMMAND, env=environ, capture_output=True, text=True, timeout=START_SECONDS, check=False
    )
    assert ended.returncode == 1
    assert "SLESS_TOKENS__ISSUERS[0].url is 'x': it must be an https URL" in ended.stdout


def test_the_gateway_keeps_the_issuers_tokens_from_functions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SLESS_TOKENS__ISSUERS", issuers("http://127.0.0.1:1"))
    assert envoy_settings(read_settings()).token_issuers == (ISSUER, "http://127.0.0.1:1")
