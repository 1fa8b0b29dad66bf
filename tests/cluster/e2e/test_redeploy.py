"""A function is deployed anew while it is called, on connections old and new."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.e2e.mirror import NAME, Mirror
from tests.component.gateway_rig import DEADLINE, Answer, read_answer, request
from tests.fixtures.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

RATE = 100
"""Calls a second, each on a connection of its own."""
CALLERS, PERIOD = 10, 0.1
"""As many again, by callers who keep theirs."""
HANDLER = "def handler(request):\n    return {version!r}\n"


@dataclass(slots=True)
class Calls:
    """Of one function, and what they were answered."""

    url: str
    answers: Counter[tuple[int, bytes]] = field(default_factory=Counter)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def alone(self) -> None:
        """At a steady rate, whether or not others were answered."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        async with asyncio.TaskGroup() as calls:
            while not self.stopped.is_set():
                calls.create_task(self._call_alone())
                due += 1 / RATE
                await asyncio.sleep(max(0.0, due - loop.time()))

    async def kept(self) -> None:
        """One after another on a connection, for as long as it may be used."""
        while not self.stopped.is_set():
            reader, writer = await self._connect()
            try:
                while (  # noqa: ASYNC110  # a caller's pause
                    await self._call(reader, writer) and not self.stopped.is_set()
                ):
                    await asyncio.sleep(PERIOD)
            finally:
                writer.close()

    async def _call_alone(self) -> None:
        reader, writer = await self._connect()
        try:
            await self._call(reader, writer)
        finally:
            writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        url = urlsplit(self.url)
        return await asyncio.open_connection(url.hostname, url.port or 80)

    async def _call(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection may be used again."""
        writer.write(request(urlsplit(self.url).path, method="POST", body=b"x"))
        async with asyncio.timeout(DEADLINE):
            answer = await read_answer(reader, b"POST")
        self.answers[said(answer)] += 1
        return answer.headers.get("connection") != "close"

    @property
    def count(self) -> int:
        """Of answers."""
        return self.answers.total()


def said(answer: Answer) -> tuple[int, bytes]:
    return answer.status, answer.body


async def deploy(mirror: Mirror, version: str) -> None:
    mirror.folder.mkdir(exist_ok=True)
    (mirror.folder / "handler.py").write_text(HANDLER.format(version=version))
    words = ["deploy", str(mirror.folder), "--name", NAME]
    await asyncio.to_thread(mirror.home.done, *words)


async def test_a_redeploy_loses_no_call(home: ClusterHome, tmp_path: Path) -> None:
    mirror = Mirror(home, tmp_path / NAME)
    await deploy(mirror, "old")
    calls = Calls(f"{home.gateway}/fn/{home.namespace}/{NAME}/")
    async with asyncio.TaskGroup() as calling:
        for _ in range(CALLERS):
            calling.create_task(calls.kept())
        calling.create_task(calls.alone())
        await until(lambda: calls.count > 2 * RATE)
        await deploy(mirror, "new")
        so_far = calls.count
        await until(lambda: calls.count > so_far + 4 * RATE)
        calls.stopped.set()
    assert set(calls.answers) == {(200, b"old"), (200, b"new")}
