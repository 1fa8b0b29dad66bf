"""A build's log: whole, followed, resumed, shared by many readers."""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.log_chunks import ChunkCache
from api.log_events import KEEP_ALIVE, follow
from sless.errors import StorageUnavailable
from sless.model.function import Ask
from sless.model.phase import Phase
from sless.ports.runs import RunState
from tests.component.api.rig import HELLO, PATH, ApiRig, make_zip
from tests.fakes.objects import MemoryObjects
from tests.fixtures.waiting import until

READERS = 100


@dataclass(frozen=True, slots=True)
class Event:
    kind: str
    data: str
    id: str


def parse(block: bytes) -> Event | None:
    fields: dict[str, list[str]] = {}
    for line in block.decode().split("\n"):
        name, _, value = line.partition(": ")
        fields.setdefault(name, []).append(value)
    if "event" not in fields:
        return None
    return Event(fields["event"][0], "\n".join(fields["data"]), fields.get("id", [""])[0])


async def events(rig: ApiRig, build: str, **offsets: int) -> AsyncGenerator[Event, None]:
    """Straight from the generator: an in-process client would wait for the whole answer."""
    named = {name.replace("_", "/"): offset for name, offset in offsets.items()}
    services = rig.app.state.services
    seconds = rig.options.keep_alive_seconds
    async for block in follow(
        services.feeds, HELLO, build, offsets=named, keep_alive_seconds=seconds
    ):
        event = parse(block)
        if event is not None:
            yield event


async def all_events(rig: ApiRig, build: str, **offsets: int) -> list[Event]:
    return [event async for event in events(rig, build, **offsets)]


def text_of(found: list[Event]) -> str:
    return "".join(event.data for event in found if event.kind == "log")


async def test_a_log_is_read_whole_as_text(rig: ApiRig, client: httpx.AsyncClient) -> None:
    build = (await rig.upload())["build"]
    path = f"{PATH}/builds/{build}/log"
    assert (await client.get(path)).content == b""
    await rig.write_log(build, b"one\n\xc3", start=0)
    await rig.write_log(build, b"\xbc two\n", start=5)
    await rig.write_log(build, b"again\n", start=0, nonce="b2")
    response = await client.get(path)
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.text == "one\nü two\nagain\n"


async def test_a_finished_build_is_followed_to_its_end(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    build = (await rig.upload())["build"]
    await rig.write_log(build, b"one\n", start=0)
    await rig.answer(Phase.FAILED, reason="BuildFailed", message="No.")
    response = await client.get(f"{PATH}/builds/{build}/log", params={"follow": "true"})
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["cache-control"] == "no-store"
    found = [each for block in response.content.split(b"\n\n") if (each := parse(block))]
    assert found[0] == Event("log", "one\n", "a1/build/4")
    assert json.loads(found[1].data) == {
        "phase": "Failed",
        "reason": "BuildFailed",
        "message": "No.",
    }
    assert len(found) == 2


async def test_the_log_of_an_older_build_ends_with_its_own_outcome(rig: ApiRig) -> None:
    build = (await rig.upload())["build"]
    await rig.write_log(build, b"old\n", start=0)
    await rig.answer(Phase.FAILED)
    await rig.upload(make_zip({"main.py": "new"}))
    found = await all_events(rig, build)
    assert text_of(found) == "old\n"
    assert json.loads(found[-1].data)["phase"] == "Failed"


async def test_a_superseded_build_says_so(rig: ApiRig) -> None:
    build = (await rig.upload())["build"]
    await rig.write_log(build, b"old\n", start=0)
    await rig.upload(make_zip({"main.py": "new"}))
    found = await all_events(rig, build)
    assert json.loads(found[-1].data)["phase"] == "Superseded"


async def test_log_arrives_as_it_is_written(rig: ApiRig) -> None:
    build = (await rig.upload())["build"]
    reader = events(rig, build)
    for number in range(3):
        await rig.write_log(build, b"line\n", start=5 * number)
        event = await asyncio.wait_for(anext(reader), 10)
        assert (event.data, event.id) == ("line\n", f"a1/build/{5 * number + 5}")
    await rig.answer()
    assert (await asyncio.wait_for(anext(reader), 10)).kind == "end"
    with pytest.raises(StopAsyncIteration):
        await anext(reader)


async def test_what_is_stored_before_the_end_is_told_before_the_end(rig: ApiRig) -> None:
    build = (await rig.upload())["build"]
    reader = asyncio.create_task(all_events(rig, build))
    await rig.write_log(build, b"last words\n", start=0)
    await rig.answer()
    assert [event.kind for event in await asyncio.wait_for(reader, 10)] == ["log", "end"]


async def test_a_run_that_closed_ends_the_log_of_its_own_ask_alone(rig: ApiRig) -> None:
    accepted = await rig.upload()
    build = accepted["build"]
    run = rig.runs.start_build(HELLO, build, ask=Ask(accepted["uid"], 1))
    rig.runs.tell(run.workflow_id, phase=Phase.FAILED, reason="BuildFailed")
    rig.runs.end(run.workflow_id, RunState.FAILED)
    found = await asyncio.wait_for(all_events(rig, build), 10)
    assert json.loads(found[-1].data)["reason"] == "BuildFailed"
    await rig.answer(Phase.FAILED)
    await rig.upload()  # the same zip once more: its build has not begun
    reader = asyncio.create_task(all_events(rig, build))
    done, _ = await asyncio.wait({reader}, timeout=10 * rig.options.log_poll_seconds)
    assert not done
    await rig.answer()
    assert json.loads((await asyncio.wait_for(reader, 10))[-1].data)["phase"] == "Ready"


async def test_a_deleted_function_ends_the_log(rig: ApiRig, client: httpx.AsyncClient) -> None:
    build = (await rig.upload())["build"]
    reader = asyncio.create_task(all_events(rig, build))
    await client.delete(PATH)
    found = await asyncio.wait_for(reader, 10)
    assert json.loads(found[-1].data)["reason"] == "OwnerGone"


async def test_a_reader_that_is_cut_ten_times_reads_everything_once(rig: ApiRig) -> None:
    build = (await rig.upload())["build"]
    whole = "".join(f"Zeile {n} ü\n" for n in range(100)).encode()
    for start in range(0, len(whole), 37):
        await rig.write_log(build, whole[start : start + 37], start=start)
    await rig.answer()
    read, last = "", ""
    for _ in range(10):
        async with rig.client() as client:
            response = await client.get(
                f"{PATH}/builds/{build}/log",
                params={"follow": "true"},
                headers={"Last-Event-ID": last},
            )
        found = [each for block in response.content.split(b"\n\n") if (each := parse(block))]
        kept = [event for event in found if event.kind == "log"][:3]
        read += text_of(kept)
        last = kept[-1].id
    rest = [each for each in found if each.kind == "log"][3:]
    assert read + text_of(rest) == whole.decode()


async def test_streams_that_grow_at_once_are_resumed_exactly(rig: ApiRig) -> None:
    build = (await rig.upload())["build"]
    reader = events(rig, build)
    await rig.write_log(build, b"b1 ", start=0, nonce="b")
    await anext(reader)
    await rig.write_log(build, b"a1 ", start=0, nonce="a")
    last = await anext(reader)
    await reader.aclose()
    await rig.write_log(build, b"a2 ", start=3, nonce="a")
    await rig.write_log(build, b"b2 ", start=3, nonce="b")
    await rig.answer()
    async with rig.client() as client:
        response = await client.get(
            f"{PATH}/builds/{build}/log",
            params={"follow": "true"},
            headers={"Last-Event-ID": last.id},
        )
    found = [each for block in response.content.split(b"\n\n") if (each := parse(block))]
    assert sorted(text_of(found).split()) == ["a2", "b2"]


async def test_a_silent_log_says_that_it_lives(rig: ApiRig) -> None:
    build = (await rig.upload())["build"]
    services = rig.app.state.services
    blocks = follow(services.feeds, HELLO, build, offsets={}, keep_alive_seconds=0.05)
    assert (await anext(blocks)).startswith(b"retry: ")
    assert await asyncio.wait_for(anext(blocks), 10) == KEEP_ALIVE
    assert await asyncio.wait_for(anext(blocks), 10) == KEEP_ALIVE
    await blocks.aclose()


class CountingObjects(MemoryObjects):
    """Tells how often each object was fetched and each prefix listed."""

    def __init__(self) -> None:
        super().__init__()
        self.gets: list[str] = []
        self.lists: list[str] = []

    async def get(self, key: str) -> bytes:
        self.gets.append(key)
        await asyncio.sleep(0)
        return await super().get(key)

    async def list(self, prefix: str, **rest: Any) -> list[str]:
        self.lists.append(prefix)
        return await super().list(prefix, **rest)


@pytest.fixture
def counted(rig: ApiRig) -> CountingObjects:
    objects = CountingObjects()
    rig.objects = objects
    rig.restart(log_poll_seconds=0.2)
    return objects


async def test_a_hundred_readers_cost_one_poller(rig: ApiRig, counted: CountingObjects) -> None:
    build = (await rig.upload())["build"]
    readers = [asyncio.create_task(all_events(rig, build)) for _ in range(READERS)]
    for number in range(5):
        await rig.write_log(build, b"line\n", start=5 * number)
    await rig.answer()
    found = await asyncio.wait_for(asyncio.gather(*readers), 20)
    assert {text_of(each) for each in found} == {"line\n" * 5}
    assert len(counted.gets) == 5
    assert len([prefix for prefix in counted.lists if prefix.startswith("logs/")]) < 10


async def test_the_poller_goes_with_its_last_reader(rig: ApiRig, counted: CountingObjects) -> None:
    build = (await rig.upload())["build"]
    await rig.write_log(build, b"x", start=0)
    reader = events(rig, build)
    await anext(reader)
    await reader.aclose()
    await asyncio.sleep(0)
    seen = len(counted.lists)
    await asyncio.sleep(3 * rig.options.log_poll_seconds)  # that it does not happen takes time
    assert len(counted.lists) == seen


async def test_a_reader_that_leaves_takes_the_chunk_from_nobody() -> None:
    gate = asyncio.Event()

    class Slow(MemoryObjects):
        async def get(self, key: str) -> bytes:
            await gate.wait()
            return await super().get(key)

    objects = Slow()
    objects.content["k"] = b"x"
    cache = ChunkCache(objects, limit_bytes=10)
    one, two = (asyncio.create_task(cache.get("k")) for _ in range(2))
    await asyncio.sleep(0)
    one.cancel()
    gate.set()
    assert await two == b"x"


async def test_the_cache_is_bounded() -> None:
    objects = CountingObjects()
    objects.content = {str(n): b"x" * 40 for n in range(5)}
    cache = ChunkCache(objects, limit_bytes=100)
    for key in ("0", "1", "0", "2", "0", "1"):
        assert len(await cache.get(key)) == 40
    assert objects.gets == ["0", "1", "2", "1"]


async def test_a_store_that_is_away_for_a_while_is_waited_for(rig: ApiRig) -> None:
    build = (await rig.upload())["build"]
    reader = asyncio.create_task(all_events(rig, build))
    await asyncio.sleep(0)
    rig.objects.unavailable = True
    rig.runs.unavailable = True
    await asyncio.sleep(5 * rig.options.log_poll_seconds)
    rig.objects.unavailable = False
    rig.runs.unavailable = False
    await rig.write_log(build, b"back\n", start=0)
    await rig.answer()
    assert text_of(await asyncio.wait_for(reader, 10)) == "back\n"


async def test_a_chunk_that_cannot_be_had_cuts_the_stream_without_an_end(rig: ApiRig) -> None:
    class Broken(MemoryObjects):
        async def get(self, key: str) -> bytes:
            raise StorageUnavailable(f"{key} cannot be had.")

    objects = Broken()
    objects.content = rig.objects.content
    rig.objects = objects
    rig.restart()
    build = (await rig.upload())["build"]
    await rig.write_log(build, b"x", start=0)
    await rig.answer()
    assert await all_events(rig, build) == []


async def test_an_outcome_that_cannot_be_read_leaves_no_reader_waiting(rig: ApiRig) -> None:
    accepted = await rig.upload()
    rig.objects.content[f"outcomes/default/hello/{accepted['uid']}/1.json"] = b"rubbish"
    assert await asyncio.wait_for(all_events(rig, accepted["build"]), 30) == []


async def test_a_server_that_goes_sends_its_readers_away(rig: ApiRig) -> None:
    build = (await rig.upload())["build"]
    reader = asyncio.create_task(all_events(rig, build))
    services = rig.app.state.services

    async def joined() -> bool:
        return bool(services.feeds._open)

    await until(joined)
    services.feeds.close()
    assert await asyncio.wait_for(reader, 10) == []


def test_leftovers_of_killed_processes_are_swept(tmp_path: Path) -> None:
    import os
    import time

    from api.spool import LEFTOVER_SECONDS, sweep

    old, fresh, foreign = (tmp_path / name for name in ("upload-a.zip", "upload-b.zip", "c.zip"))
    for path in (old, fresh, foreign):
        path.touch()
    long_ago = time.time() - LEFTOVER_SECONDS - 1
    for path in (old, foreign):
        os.utime(path, (long_ago, long_ago))
    sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.zip", "upload-b.zip"]
