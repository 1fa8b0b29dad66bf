"""Starts the parts of a home, keeps them running, and stops them in order."""

import asyncio
from collections.abc import Sequence
from itertools import groupby
from types import TracebackType
from typing import Self

from sless.local.keeper import Keeper
from sless.local.layout import Layout
from sless.local.part import Part, Report
from sless.local.rotation import RotatingLog


class Supervisor:
    """The parts of one home. Use it as a context: leaving it leaves no part running."""

    def __init__(
        self,
        parts: Sequence[Part],
        *,
        layout: Layout,
        log_bytes: int,
        report: Report,
    ) -> None:
        self._hurry = asyncio.Event()
        self._logs = {
            part.name: RotatingLog(layout.log(part.name), limit=log_bytes) for part in parts
        }
        self._keepers = {
            part.name: Keeper(
                part,
                log=self._logs[part.name],
                pid_file=layout.pid_file(part.name),
                report=report,
            )
            for part in parts
        }
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        """Starts each part as soon as those that it needs are ready."""
        self._tasks = [asyncio.create_task(self._keep(keeper)) for keeper in self._keepers.values()]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stops what still runs."""
        await self.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for log in self._logs.values():
            log.close()

    @property
    def pids(self) -> dict[str, int]:
        """Each part's newest pid; 0 before its start."""
        return {name: keeper.pid for name, keeper in self._keepers.items()}

    async def until_ready(self) -> None:
        """Returns when every part is ready; raises `PartFailed` when one does not come up."""
        ready = asyncio.create_task(self._all_ready())
        try:
            await asyncio.wait({ready, *self._tasks}, return_when=asyncio.FIRST_COMPLETED)
            for task in self._tasks:
                if task.done():
                    task.result()
        finally:
            ready.cancel()

    async def stop(self) -> None:
        """Stops every part, stage by stage; the parts of a stage together."""
        by_stage = sorted(self._keepers.values(), key=lambda keeper: keeper.part.stop_stage)
        for _, stage in groupby(by_stage, key=lambda keeper: keeper.part.stop_stage):
            await asyncio.gather(*(keeper.stop(self._hurry) for keeper in stage))

    def hurry(self) -> None:
        """Makes a stop under way kill whatever still runs."""
        self._hurry.set()

    async def _keep(self, keeper: Keeper) -> None:
        for name in keeper.part.needs:
            await self._keepers[name].ready.wait()
        await keeper.keep()

    async def _all_ready(self) -> None:
        for keeper in self._keepers.values():
            await keeper.ready.wait()
