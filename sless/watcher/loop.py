"""The watcher's loop: sees everything, writes status, and has whatever is left alone looked at."""

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import structlog

from sless.errors import SlessError
from sless.model.function import FunctionRef
from sless.model.phase import Phase
from sless.model.times import rfc3339
from sless.naming import outcome_key
from sless.ports import Functions, Objects, Runs, Scene
from sless.ports.runs import Run
from sless.ports.scene import Standing
from sless.watcher.due import Due, Running, group_runs
from sless.watcher.memory import Looks, Outcomes
from sless.watcher.reconcile import (
    Act,
    Sight,
    Verdict,
    act_for,
    verdict_for,
)
from sless.watcher.seeing import Seeing, is_answered
from sless.watcher.status import render_status, render_terminated

IDLE_SECONDS = 1.0
"""Between looks while nothing changes: one list of running workflows a second."""
BUSY_SECONDS = 0.25
"""Between looks while something is under way: outcomes appear in S3, which tells nobody."""
AT_MOST = 200
"""Functions judged in one pass: at the start all are due, and what is under way must not wait."""
AT_ONCE = 8
"""Functions judged at the same time: S3 and the API server answer more than one."""

log = structlog.get_logger()


@dataclass(slots=True)
class Watcher:
    """Level-triggered: each pass starts from what is there. It never builds or deploys."""

    scene: Scene
    functions: Functions
    objects: Objects
    runs: Runs
    gateway_url: str
    heartbeat: Path | None = None
    """Touched whenever the scene was seen and a Function judged, for a probe: without that for
    minutes, we hang. An outage of Temporal or S3, however long a pass takes in it, is no reason."""
    outcomes: Outcomes = field(init=False)
    seeing: Seeing = field(init=False)
    looks: Looks = field(default_factory=Looks)
    due: Due = field(default_factory=Due)
    _running: Mapping[str, Run] = field(default_factory=dict)
    _of_function: Running = field(default_factory=dict)
    _listed: float = float("-inf")

    def __post_init__(self) -> None:
        self.outcomes = Outcomes(self.objects)
        self.seeing = Seeing(self.objects, self.runs, self.outcomes)

    async def run(self) -> None:
        """Until cancelled; an outage is waited out."""
        while True:
            try:
                busy = await self.pass_once()
                await self.scene.changed(seconds=BUSY_SECONDS if busy else IDLE_SECONDS)
            except SlessError as error:
                log.warning("pass failed", reason=error.reason, message=error.message)
                await asyncio.sleep(IDLE_SECONDS)

    async def pass_once(self) -> bool:
        """Judges Functions of which something changed; whether something is under way or left."""
        standings = {each.stored.function.ref: each for each in await self.scene.look()}
        self._beat()
        await self._list_runs()
        await self._end_orphans(standings)
        due = sorted(self.due.pick(standings, self._of_function), key=is_answered)
        first = iter(due[:AT_MOST])
        async with asyncio.TaskGroup() as judging:
            for _ in range(AT_ONCE):
                judging.create_task(self._judge_each(first))
        return bool(self.due.under_way) or len(due) > AT_MOST

    async def _judge_each(self, due: Iterator[Standing]) -> None:
        for standing in due:
            runs = self._of_function.get(standing.stored.function.ref, ())
            self.due.note(standing, runs, settled=await self._judge(standing) and not runs)
            self._beat()

    def _beat(self) -> None:
        if self.heartbeat is not None:
            self.heartbeat.touch()

    async def _list_runs(self) -> None:
        if time.monotonic() - self._listed < IDLE_SECONDS:
            return
        running = await self.runs.running()
        self._running = {run.workflow_id: run for run in running}
        self._of_function = group_runs(running)
        self._listed = time.monotonic()

    async def _end_orphans(self, standings: Mapping[FunctionRef, Standing]) -> None:
        """Runs of Functions that are gone: a look lets them see that and clean up."""
        gone = self._of_function.keys() - standings.keys()
        self._forget(standings, gone)
        for ref in gone:
            try:
                await self._look(ref, about="gone")
            except SlessError as error:
                # A run that hears nothing, having been told too much, is its own trouble alone.
                log.warning(
                    "look not sent", function=str(ref), reason=error.reason, message=error.message
                )

    def _forget(
        self, standings: Mapping[FunctionRef, Standing], gone: Iterable[FunctionRef]
    ) -> None:
        """What is remembered of Functions that are no more."""
        self.looks.keep_only([*standings, *gone])
        self.due.keep_only(standings.keys())
        self.outcomes.keep_only(each.stored.function.ask for each in standings.values())

    async def _judge(self, standing: Standing) -> bool:
        """Judges it, and does what follows; whether it is settled, whatever its runs do."""
        try:
            sight = await self.seeing.see(standing, self._running)
            act = act_for(sight)
            await self._act(act, sight)
            verdict = verdict_for(sight)
            written = await self._tell(standing, sight, verdict)
        except SlessError as error:
            log.warning(
                "function not judged",
                function=str(standing.stored.function.ref),
                reason=error.reason,
                message=error.message,
            )
            return False
        except Exception:  # a defect that one of them meets must not stop the others
            log.exception("function not judged", function=str(standing.stored.function.ref))
            return False
        answered = sight.outcome is not None and verdict.phase is not Phase.DEPLOYING
        return answered and act is Act.NOTHING and not written

    async def _act(self, act: Act, sight: Sight) -> None:
        if act is Act.LOOK:
            function = sight.function
            about = f"{function.ask} {sight.outcome is not None} {function.cancel_wanted}"
            await self._look(sight.function.ref, about=about, sight=sight)
        elif act is Act.RECORD_TERMINATED:
            await self._record_terminated(sight)

    async def _look(self, ref: FunctionRef, *, about: str, sight: Sight | None = None) -> None:
        if self.looks.due(ref, about):
            await self.runs.look(ref, ask=sight.function.ask if sight is not None else None)
            self.looks.note(ref, about)
            log.info("look sent", function=str(ref), about=about)

    async def _record_terminated(self, sight: Sight) -> None:
        function = sight.function
        key = outcome_key(function.namespace, function.name, function.uid, function.generation)
        outcome = render_terminated(sight, now=_now())
        await self.objects.put_if_absent(key, outcome.to_json())

    async def _tell(self, standing: Standing, sight: Sight, verdict: Verdict) -> bool:
        """Writes the status; whether it was another one."""
        function = sight.function
        previous = standing.stored.manifest.get("status") or {}
        status = render_status(
            sight,
            verdict,
            url=f"{self.gateway_url}/fn/{function.namespace}/{function.name}/",
            previous=previous,
            now=_now(),
        )
        if status == previous:
            return False
        await self.functions.write_status(
            function.namespace, function.name, uid=function.uid, status=status
        )
        return True


def _now() -> str:
    return rfc3339(datetime.now(UTC))
