"""A home of small scripts, run by the real supervisor: `python small_home.py FOLDER PARTS`.

PARTS is JSON: for each name its Python source, what it needs, its stage and its folder.
"""

import asyncio
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sless.errors import InvalidSetting
from sless.local.folder import owned_folder
from sless.local.keeper import PartFailed
from sless.local.layout import Layout
from sless.local.part import Event, Part
from sless.local.pidfile import end_leftovers
from sless.local.session import run_session


def main(root: str, described: str) -> int:
    """Runs it until a signal; 2 when the folder cannot be used, 1 when a part does not come up."""
    try:
        with owned_folder(Path(root), version="1") as layout:
            say("leftovers", names=end_leftovers(layout.run, seconds=1))
            asyncio.run(run(layout, json.loads(described)))
    except InvalidSetting as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except PartFailed as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


async def run(layout: Layout, described: dict[str, dict[str, Any]]) -> None:
    await run_session(
        [part(layout, name, **fields) for name, fields in described.items()],
        layout=layout,
        log_bytes=4096,
        report=lambda event: say(type(event).__name__, **fields_of(event)),
        up=lambda pids: say("up", pids=pids),
        stopping=lambda: say("stopping"),
    )


def part(  # noqa: PLR0913 - all named
    layout: Layout,
    name: str,
    *,
    source: str,
    needs: tuple[str, ...] = (),
    stage: int = 0,
    folder: str = ".",
) -> Part:
    told = layout.run / f"{name}.ready"
    (layout.root / folder).mkdir(exist_ok=True)

    async def ready() -> bool:
        return told.exists()

    return Part(
        name=name,
        command=(sys.executable, "-c", source),
        env={"PATH": os.environ["PATH"], "READY": str(told)},
        folder=layout.root / folder,
        ready=ready,
        start_seconds=3,
        stop_seconds=2,
        needs=frozenset(needs),
        stop_stage=stage,
        ready_file=told,
    )


def fields_of(event: Event) -> dict[str, object]:
    return asdict(event)


def say(what: str, **fields: object) -> None:
    sys.stdout.write(json.dumps({"what": what, **fields}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
