"""One session of a home: from the start of its parts until a signal says stop."""

import asyncio
import signal
from collections.abc import Callable, Sequence

from sless.local.layout import Layout
from sless.local.part import Part, Report
from sless.local.supervisor import Supervisor

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def run_session(  # noqa: PLR0913 - all named, and each is one thing
    parts: Sequence[Part],
    *,
    layout: Layout,
    log_bytes: int,
    report: Report,
    up: Callable[[dict[str, int]], None],
    stopping: Callable[[], None],
) -> None:
    """Runs the parts until SIGINT, SIGTERM or SIGHUP; a second one makes the stop quicker.

    `up` is called once with the pids when every part is ready, `stopping` at the first signal.
    Raises `PartFailed` when a part does not come up. However it ends, no part is left running.
    """
    asked = asyncio.Event()
    async with Supervisor(parts, layout=layout, log_bytes=log_bytes, report=report) as supervisor:

        def stop() -> None:
            if asked.is_set():
                supervisor.hurry()
            else:
                asked.set()
                stopping()

        for number in _STOP_SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, stop)
        if await _ready_before(asked, supervisor):
            up(supervisor.pids)
            await asked.wait()


async def _ready_before(asked: asyncio.Event, supervisor: Supervisor) -> bool:
    ready = asyncio.create_task(supervisor.until_ready())
    stop = asyncio.create_task(asked.wait())
    try:
        await asyncio.wait({ready, stop}, return_when=asyncio.FIRST_COMPLETED)
        if ready.done():
            ready.result()
        return ready.done()
    finally:
        ready.cancel()
        stop.cancel()
