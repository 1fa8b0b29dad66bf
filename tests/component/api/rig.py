"""The API on a real SQLite store, S3 in memory and runs that a test tells."""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from api.app import create_app
from api.options import ApiOptions
from api.services import Ports
from sless.adapters.sqlite.database import Database
from sless.adapters.sqlite.functions import SqliteFunctions
from sless.model.function import Ask, FunctionRef
from sless.model.outcome import Outcome, Step
from sless.model.phase import Phase
from sless.naming import build_id, log_chunk_key, log_prefix, outcome_key, parse_s3_key
from sless.ports.functions import StoredFunction
from sless.tokens import SigningKey, Verifier, ensure_signing_key
from tests.fakes.objects import MemoryObjects
from tests.fakes.runs import FakeRuns
from tests.fakes.warnings import FakeWarnings

HELLO = FunctionRef("default", "hello")
PATH = "/v1/namespaces/default/functions/hello"
HOUR = timedelta(hours=1)


def make_zip(files: Mapping[str, str | bytes] | None = None) -> bytes:
    """A zip of these files; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in (files or {"main.py": "def handler(request): return 'hi'"}).items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def options_in(folder: Path) -> ApiOptions:
    return ApiOptions(
        spool=folder / "spool",
        api_url="http://api.test",
        gateway_url="http://gateway.test",
        runtimes=("python3.11", "python3.1", "node20"),
        default_runtime="python3.11",
        log_poll_seconds=0.02,
        keep_alive_seconds=0.2,
    )


@dataclass(slots=True)
class ApiRig:
    """Everything a test of the API may want to look behind."""

    options: ApiOptions
    database: Database
    key: SigningKey
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    runs: FakeRuns = field(default_factory=FakeRuns)
    warnings: FakeWarnings = field(default_factory=FakeWarnings)
    verifier: Verifier | None = None
    """Without one, that of the key."""
    functions: SqliteFunctions = field(init=False)
    app: FastAPI = field(init=False)

    def __post_init__(self) -> None:
        self.functions = SqliteFunctions(self.database)
        self.restart()

    def restart(self, **changes: Any) -> None:
        """Another process on the same state."""
        self.options = replace(self.options, **changes)
        self.options.spool.mkdir(exist_ok=True)
        verifier = self.verifier or self.key.verifier()
        ports = Ports(self.functions, self.objects, self.runs, verifier, self.warnings)
        self.app = create_app(ports, self.options)

    def token(self, *namespaces: str, ttl: timedelta = HOUR) -> str:
        return self.key.sign(sub="ann", namespaces=namespaces or ["*"], ttl=ttl)

    def client(self, *namespaces: str, token: str | None = None) -> httpx.AsyncClient:
        given = self.token(*namespaces) if token is None else token
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app),
            base_url="http://api.test",
            headers={"Authorization": f"Bearer {given}"} if given else {},
        )

    def spooled(self) -> list[str]:
        """Files of uploads on their way."""
        return [path.name for path in self.options.spool.iterdir()]

    async def stored(self, ref: FunctionRef = HELLO) -> StoredFunction:
        found = await self.functions.find(ref.namespace, ref.name)
        assert found is not None
        return found

    async def upload(self, body: bytes | None = None, **params: str) -> dict[str, Any]:
        """One accepted upload."""
        async with self.client() as client:
            response = await client.put(f"{PATH}/code", content=body or make_zip(), params=params)
        assert response.status_code == 202, response.text
        content: dict[str, Any] = response.json()
        return content

    async def answer(
        self,
        phase: Phase = Phase.READY,
        *,
        generation: int | None = None,
        s3_key: str = "",
        **changes: Any,
    ) -> Outcome:
        """Writes the outcome of an ask, of the present one if none is named."""
        function = (await self.stored()).function
        ask = Ask(function.uid, generation or function.generation)
        key = s3_key or function.spec.s3_key
        build = build_id(key)
        outcome = Outcome(
            namespace=HELLO.namespace,
            name=HELLO.name,
            ask=ask,
            phase=phase,
            reason=phase.value,
            message=f"It is {phase.value}.",
            s3_key=key,
            build=build,
            runtime=parse_s3_key(key).runtime,
            image=f"default/hello@sha256:{build}" if phase is Phase.READY else "",
            revision=f"rev{ask.generation:09d}",
            workflow_id="function/default/hello",
            run_id="run-f",
            steps=(Step("install", "2030-01-01T00:00:01Z", "2030-01-01T00:00:02Z"),),
            ended_at="2030-01-01T00:00:03Z",
        )
        outcome = replace(outcome, **changes)
        key = outcome_key(HELLO.namespace, HELLO.name, ask.uid, ask.generation)
        assert await self.objects.put_if_absent(key, outcome.to_json())
        return outcome

    async def write_log(
        self, build: str, data: bytes, *, start: int, nonce: str = "a1", container: str = "build"
    ) -> None:
        prefix = log_prefix(HELLO.namespace, HELLO.name, build)
        key = log_chunk_key(prefix, nonce=nonce, container=container, start=start)
        assert await self.objects.put_if_absent(key, data)


def make_rig(folder: Path) -> ApiRig:
    return ApiRig(
        options=options_in(folder),
        database=Database(folder / "home.db"),
        key=ensure_signing_key(folder / "keys"),
    )


def reason_of(response: httpx.Response, status: int) -> str:
    """The reason of a problem, all of whose parts are there."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = json.loads(response.content)
    assert problem["status"] == status
    assert problem["type"] == f"urn:sless:reason:{problem['reason']}"
    assert problem["title"]
    assert problem["detail"]
    assert problem["instance"] == response.request.url.path
    assert problem["requestId"] == response.headers["x-request-id"]
    reason: str = problem["reason"]
    return reason
