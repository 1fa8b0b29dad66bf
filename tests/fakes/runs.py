"""Workflow runs in memory: `Runs` for tests of the API, with a person's hand on every run."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sless.errors import WorkflowsUnavailable
from sless.model.function import Ask, FunctionRef
from sless.model.phase import Phase
from sless.naming import build_workflow_id, function_workflow_id
from sless.ports.runs import Run, RunState


@dataclass(slots=True)
class FakeRuns:
    """A look starts a run that goes on until the test ends it."""

    unavailable: bool = False
    lists: int = 0
    """How often superseded builds were asked for."""
    looks: list[tuple[FunctionRef, Ask | None]] = field(default_factory=list)
    _runs: list[Run] = field(default_factory=list)

    async def look(self, function: FunctionRef, *, ask: Ask | None = None) -> str:
        """See the port."""
        self._check_available()
        self.looks.append((function, ask))
        workflow_id = function_workflow_id(function.namespace, function.name)
        if self._running(workflow_id) is None:
            self._start(workflow_id, function, ask=ask)
        return workflow_id

    async def running(self) -> Sequence[Run]:
        """See the port."""
        self._check_available()
        return [run for run in self._runs if run.state is RunState.RUNNING]

    async def superseded(self, function: FunctionRef) -> Sequence[Run]:
        """See the port."""
        self._check_available()
        self.lists += 1
        own = [run for run in self._runs if run.function == function and run.build]
        return [run for run in reversed(own) if run.phase is Phase.SUPERSEDED]

    async def find(self, workflow_id: str) -> Run | None:
        """See the port."""
        self._check_available()
        own = [run for run in self._runs if run.workflow_id == workflow_id]
        return own[-1] if own else None

    async def close(self, workflow_id: str) -> None:
        """See the port."""
        self._check_available()
        self.end(workflow_id, RunState.CANCELLED)

    def url(self, workflow_id: str, run_id: str = "") -> str:
        """See the port."""
        page = (
            f"http://temporal.test/namespaces/default/workflows/{workflow_id.replace('/', '%2F')}"
        )
        return f"{page}/{run_id}/timeline" if run_id else page

    def start_build(self, function: FunctionRef, build: str, *, ask: Ask, s3_key: str = "") -> Run:
        """The function workflow starts this build."""
        workflow_id = build_workflow_id(function.namespace, function.name, build)
        return self._start(workflow_id, function, ask=ask, build=build, s3_key=s3_key)

    def tell(  # what a run tells has this many sides, all named
        self,
        workflow_id: str,
        *,
        phase: Phase,
        reason: str = "",
        message: str = "",
        attempts: int = 0,
    ) -> None:
        """The running run says how it fares."""
        at = self._index(workflow_id)
        self._runs[at] = replace(
            self._runs[at], phase=phase, reason=reason, message=message, attempts=attempts
        )

    def end(self, workflow_id: str, state: RunState = RunState.COMPLETED) -> None:
        """The running run ends; none there is no error."""
        at = self._running(workflow_id)
        if at is not None:
            self._runs[at] = replace(
                self._runs[at], state=state, ended_at="2030-01-01T00:00:09.000Z"
            )

    def _start(
        self,
        workflow_id: str,
        function: FunctionRef,
        *,
        ask: Ask | None,
        build: str = "",
        s3_key: str = "",
    ) -> Run:
        run = Run(
            workflow_id=workflow_id,
            run_id=f"run-{len(self._runs) + 1}",
            state=RunState.RUNNING,
            function=function,
            ask=ask,
            build=build,
            phase=Phase.PENDING,
            started_at="2030-01-01T00:00:00.000Z",
            s3_key=s3_key,
        )
        self._runs.append(run)
        return run

    def _index(self, workflow_id: str) -> int:
        at = self._running(workflow_id)
        assert at is not None, f"{workflow_id} does not run"
        return at

    def _running(self, workflow_id: str) -> int | None:
        found = (
            at
            for at, run in enumerate(self._runs)
            if run.workflow_id == workflow_id and run.state is RunState.RUNNING
        )
        return next(found, None)

    def _check_available(self) -> None:
        if self.unavailable:
            raise WorkflowsUnavailable("Temporal does not answer: connection refused.")
