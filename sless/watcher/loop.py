"""The watcher's loop: sees everything, writes status, and has whatever is left alone looked at."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import structlog

from sless.errors import SlessError, Terminated
from sless.model.function import FunctionRef
from sless.model.outcome import Outcome
from sless.model.phase import Phase
from sless.naming import build_id, build_workflow_id, function_workflow_id, outcome_key
from sless.ports import Functions, Objects, Runs, Scene
from sless.ports.runs import Run, RunState
from sless.ports.scene import Standing
from sless.watcher.memory import Looks, Outcomes
from sless.watcher.reconcile import Act, Sight, Verdict, act_for, verdict_for
from sless.watcher.status import render_status

IDLE_SECONDS = 1.0
"""Between looks while nothing changes: one list of running workflows a second."""
BUSY_SECONDS = 0.25
"""Between looks while something is under way: outcomes appear in S3, which tells nobody."""

log = structlog.get_logger()


@dataclass(slots=True)
class Watcher:
    """Level-triggered: each pass starts from what is there. It never builds or deploys."""

    scene: Scene
    functions: Functions
    objects: Objects
    runs: Runs
    gateway_url: str
    outcomes: Outcomes = field(init=False)
    looks: Looks = field(default_factory=Looks)
    last_pass: float = 0.0
    """`time.monotonic` of the last whole pass: what a health check looks at."""
    _running: Mapping[str, Run] = field(default_factory=dict)
    _listed: float = float("-inf")

    def __post_init__(self) -> None:
        self.outcomes = Outcomes(self.objects)

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
        """Judges every Function once; whether something is under way."""
        standings = await self.scene.look()
        await self._list_runs()
        await self._end_orphans(standings)
        under_way = False
        for standing in standings:
            under_way |= await self._judge(standing)
        self.outcomes.keep_only(standing.stored.function.ask for standing in standings)
        self.last_pass = time.monotonic()
        return under_way

    async def _list_runs(self) -> None:
        if time.monotonic() - self._listed < IDLE_SECONDS:
            return
        self._running = {run.workflow_id: run for run in await self.runs.running()}
        self._listed = time.monotonic()

    async def _end_orphans(self, standings: Sequence[Standing]) -> None:
        """Runs of Functions that are gone: a look lets them see that and clean up."""
        present = {standing.stored.function.ref for standing in standings}
        gone = {run.function for run in self._running.values()} - present
        self.looks.keep_only(present | gone)
        for ref in gone:
            await self._look(ref, about="gone")

    async def _judge(self, standing: Standing) -> bool:
        try:
            sight = await self._see(standing)
            await self._act(sight)
            verdict = verdict_for(sight)
            await self._tell(standing, sight, verdict)
        except SlessError as error:
            log.warning(
                "function not judged",
                function=str(standing.stored.function.ref),
                reason=error.reason,
                message=error.message,
            )
            return True
        return sight.outcome is None or verdict.phase is Phase.DEPLOYING

    async def _see(self, standing: Standing) -> Sight:
        function = standing.stored.function
        workflow_id = function_workflow_id(function.namespace, function.name)
        build = build_workflow_id(function.namespace, function.name, build_id(function.spec.s3_key))
        outcome = await self.outcomes.find(function)
        run = self._running.get(workflow_id)
        last = await self.runs.find(workflow_id) if run is None and outcome is None else None
        if last is not None and last.state is RunState.RUNNING:
            run = last  # The list is a second behind.
        return Sight(
            function=function,
            outcome=outcome,
            repair=await self.outcomes.find_repair(function) if outcome is not None else None,
            uploaded=outcome is not None or await self.objects.exists(function.spec.s3_key),
            deployment=standing.deployment,
            routed=standing.routed,
            function_run=run,
            build_run=self._running.get(build),
            last_run=last,
            previous=_previous_phase(standing),
        )

    async def _act(self, sight: Sight) -> None:
        act = act_for(sight)
        if act is Act.LOOK:
            about = f"{sight.function.ask} {sight.outcome is not None}"
            await self._look(sight.function.ref, about=about, sight=sight)
        elif act is Act.RECORD_TERMINATED:
            await self._record_terminated(sight)

    async def _look(self, ref: FunctionRef, *, about: str, sight: Sight | None = None) -> None:
        if self.looks.due(ref, about):
            await self.runs.look(ref, ask=sight.function.ask if sight is not None else None)
            self.looks.note(ref, about)
            log.info("look sent", function=str(ref), about=about)

    async def _record_terminated(self, sight: Sight) -> None:
        function, run = sight.function, sight.last_run
        outcome = Outcome(
            namespace=function.namespace,
            name=function.name,
            ask=function.ask,
            phase=Phase.CANCELLED,
            reason=Terminated.reason,
            message="The function's workflow was terminated.",
            s3_key=function.spec.s3_key,
            build=build_id(function.spec.s3_key),
            runtime=function.spec.runtime,
            workflow_id=run.workflow_id if run is not None else "",
            run_id=run.run_id if run is not None else "",
            ended_at=_now(),
        )
        key = outcome_key(function.namespace, function.name, function.uid, function.generation)
        await self.objects.put_if_absent(key, outcome.to_json())

    async def _tell(self, standing: Standing, sight: Sight, verdict: Verdict) -> None:
        function = sight.function
        previous = standing.stored.manifest.get("status") or {}
        status = render_status(
            sight,
            verdict,
            url=f"{self.gateway_url}/fn/{function.namespace}/{function.name}/",
            previous=previous,
            now=_now(),
        )
        if status != previous:
            await self.functions.write_status(
                function.namespace, function.name, uid=function.uid, status=status
            )


def _previous_phase(standing: Standing) -> Phase | None:
    status = standing.stored.manifest.get("status") or {}
    same = status.get("observedGeneration") == standing.stored.function.generation
    return Phase(status["phase"]) if same and status.get("phase") else None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
