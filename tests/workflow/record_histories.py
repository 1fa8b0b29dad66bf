"""Records histories of a release, to be replayed by all later ones.

Run once per release: `python -m tests.workflow.record_histories FOLDER`.
"""

import asyncio
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowHandle

from sless.adapters.sqlite.database import Database
from sless.local.temporal import TemporalServer
from sless.naming import build_id
from tests.fakes.builder import Fail, Hang
from tests.fixtures.ports import free_port
from tests.fixtures.waiting import until
from tests.workflow.rig import Rig

_MACHINE = {"identity": "worker", "stackTrace": ""}
"""What a history tells of the machine it was recorded on, and what stands there instead."""
_HOST = re.compile(r"\b\d+@[-\w.]+")
"""A process and its host, as in the name of a worker's own queue."""


async def record(client: Client, folder: Path) -> None:
    """Ready, superseded, failed and put back, lost and tried again, cancelled, deleted."""
    with tempfile.TemporaryDirectory() as scratch:
        rig = Rig(client, Database(Path(scratch, "home.db")))
        runner = asyncio.create_task(rig.runner.run())
        async with rig.worker():
            await _live(rig, folder)
        runner.cancel()
        await asyncio.wait([runner])
        rig.database.close()


async def _live(rig: Rig, folder: Path) -> None:
    first, second = await rig.upload("a = 1"), await rig.upload("b = 1")
    await rig.outcome(await rig.ask(first))
    await rig.ended()
    await _save(rig.handle(), folder / "function-ready.json")
    await _save(rig.build_handle(first), folder / "build-ready.json")

    rig.builder.scripts.append(Hang())
    await rig.ask(second)
    await rig.job(2)
    await rig.outcome(await rig.ask(first, env=[{"name": "A", "value": "1"}]))
    await rig.ended()
    await _save(rig.handle(), folder / "function-superseding.json")
    await _save(rig.build_handle(second), folder / "build-superseded.json")

    rig.runner.crashing.add(build_id(second))
    rig.builder.scripts.append(Hang())
    function = await rig.ask(second)
    rig.builder.lose(await rig.job(3))
    await rig.outcome(function)
    await rig.ended()
    await _save(rig.handle(), folder / "function-failed.json")
    await _save(rig.build_handle(second), folder / "build-lost-then-crashed.json")

    third = await rig.upload("c = 1")
    rig.builder.scripts.extend([Hang(), Fail()])
    cancelled = await rig.ask(third)
    await rig.job(5)
    await rig.handle().cancel()
    await rig.outcome(cancelled)
    await until(lambda: _closed(rig.build_handle(third)))
    await rig.ended()
    await _save(rig.handle(), folder / "function-cancelled.json")
    await _save(rig.build_handle(third), folder / "build-cancelled.json")

    await rig.outcome(await rig.ask(third))
    await rig.ended()
    await _save(rig.build_handle(third), folder / "build-failed.json")

    await rig.functions.delete(rig.namespace, rig.name)
    await rig.look()
    await rig.ended()
    await _save(rig.handle(), folder / "function-gone.json")


async def _closed(handle: WorkflowHandle[Any, Any]) -> bool:
    return (await handle.describe()).close_time is not None


async def _save(handle: WorkflowHandle[Any, Any], path: Path) -> None:
    history = await handle.fetch_history()
    content = {"workflow_id": handle.id, "history": _scrubbed(json.loads(history.to_json()))}
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


def _scrubbed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _MACHINE.get(name, _scrubbed(each)) for name, each in value.items()}
    if isinstance(value, str):
        return _HOST.sub("worker", value)
    return [_scrubbed(each) for each in value] if isinstance(value, list) else value


async def _main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        server = TemporalServer(Path(scratch, "t.db"), port=free_port(), ui_port=free_port())
        process = await asyncio.create_subprocess_exec(*server.command())
        try:
            await record(await until(lambda: _connect(server)), folder)
        finally:
            process.terminate()
            await process.wait()


async def _connect(server: TemporalServer) -> Client | None:
    try:
        return await Client.connect(server.address)
    except RuntimeError:
        return None


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1])))
