"""A home with a runner in it and nothing else: database, images, contexts over HTTP."""

import asyncio
import atexit
import contextlib
import os
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from sless.adapters.bundles.builder import BundleBuilder
from sless.adapters.bundles.images import BundleImages
from sless.adapters.bundles.trees import remove_tree
from sless.adapters.sqlite.database import Database
from sless.local.layout import Layout
from sless.local.runner.processes import find_marked
from sless.local.runner.runner import Runner
from sless.local.runner.settings import RunnerSettings
from sless.model.attempt import Attempt, AttemptState, AttemptStatus
from sless.model.function import FunctionRef
from tests.component.contexts import HELLO, make_sdist, serving, write_context

F = FunctionRef("team", "thumb")
BUILD = "0123456789ab"
DEADLINE = 60.0
"""Seconds that a test waits for what must come."""


@dataclass
class RunnerHome:
    """Made by `running`, or by `a_home` without the runner."""

    data: Path
    web: Path
    url: str
    database: Database
    settings: RunnerSettings
    images: BundleImages
    builder: BundleBuilder
    made: list[Attempt] = field(default_factory=list)

    def attempt(
        self, files: Mapping[str, str | bytes], *, rebuild: int = 0, runtime: str = "python3.11"
    ) -> Attempt:
        """A fresh attempt at building those files."""
        made = Attempt(
            namespace=F.namespace,
            name=F.name,
            uid="u1",
            build=BUILD,
            nonce=uuid.uuid4().hex[:8],
            runtime=runtime,
            context_sha256=write_context(files, self.web, runtime=runtime),
            rebuild=rebuild,
            deadline_seconds=int(DEADLINE),
        )
        self.made.append(made)
        return made

    async def start(self, attempt: Attempt) -> None:
        """Has it built."""
        await self.builder.ensure(attempt, context_url=f"{self.url}/{attempt.context_sha256}")

    async def ended(self, attempt: Attempt) -> AttemptStatus:
        """How it ended."""
        async with asyncio.timeout(DEADLINE):
            while True:
                status = await self.builder.status(attempt)
                if status.state in {AttemptState.SUCCEEDED, AttemptState.FAILED}:
                    return status
                await asyncio.sleep(0.02)

    async def build(
        self, files: Mapping[str, str | bytes], *, rebuild: int = 0, deadline: float = DEADLINE
    ) -> AttemptStatus:
        """Builds those files and waits for the end."""
        attempt = replace(self.attempt(files, rebuild=rebuild), deadline_seconds=int(deadline))
        await self.start(attempt)
        return await self.ended(attempt)

    async def log(self, attempt: Attempt | None = None) -> str:
        """Everything that the latest attempt's containers wrote."""
        chunks = await self.builder.read_log(attempt or self.made[-1], offsets={}, limit=10_000_000)
        return "".join(chunk.data.decode() for chunk in chunks)

    def requiring(self, files: Mapping[str, str], *, code: str = HELLO) -> dict[str, str]:
        """A function that needs a source distribution of those files, `NAME` put in."""
        name = f"local{uuid.uuid4().hex[:8]}"  # uv remembers builds by name and version
        named = {path: text.replace("NAME", name) for path, text in files.items()}
        make_sdist(name, named, self.web / "links")
        return {
            "handler.py": code,
            "requirements.txt": f"--find-links {self.url}/links/\n{name}==1.0\n",
        }

    def processes(self) -> list[int]:
        """Whatever runs because of this home."""
        return list(find_marked(self.settings.mark()))


@contextlib.asynccontextmanager
async def a_home(
    folder: Path,
    *,
    environ: Mapping[str, str] = os.environ,
    adjust: Callable[[RunnerSettings], RunnerSettings] = lambda settings: settings,
) -> AsyncIterator[RunnerHome]:
    """A home whose runner is not started."""
    data, web = folder / "data", folder / "web"
    for path in (data, web):
        path.mkdir(exist_ok=True)
    if not (data / "images").exists():
        (data / "images").symlink_to(shared_images())
    database = Database(data / "home.db")
    images = BundleImages(Layout(data).images)
    installing = {**environ, "UV_CACHE_DIR": str(shared_cache())}
    settings = adjust(RunnerSettings(data=data, environ=installing))
    with serving(web) as url:
        try:
            yield RunnerHome(
                data=data,
                web=web,
                url=url,
                database=database,
                settings=settings,
                images=images,
                builder=BundleBuilder(database),
            )
        finally:
            database.close()


@contextlib.asynccontextmanager
async def running(
    folder: Path,
    *,
    environ: Mapping[str, str] = os.environ,
    adjust: Callable[[RunnerSettings], RunnerSettings] = lambda settings: settings,
) -> AsyncIterator[RunnerHome]:
    """A home whose runner runs in this process."""
    async with a_home(folder, environ=environ, adjust=adjust) as home:
        runner = Runner(home.database, home.images, home.settings)
        await runner.prepare()
        task = asyncio.create_task(runner.run())
        try:
            yield home
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            assert home.processes() == []


def shared_cache() -> Path:
    """uv's cache of all tests: what they install is fetched once."""
    return Path(os.environ.get("UV_CACHE_DIR") or Path.home() / ".cache" / "uv")


@cache
def shared_images() -> Path:
    """The images of all tests in this process: what is the same is made once."""
    folder = Path(tempfile.mkdtemp(prefix="sless-images-"))
    atexit.register(remove_tree, folder)
    return folder


async def eventually(condition: Callable[[], object], *, seconds: float = DEADLINE) -> None:
    """Returns once it holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        await asyncio.sleep(0.02)
