"""Which Functions a pass judges: those of which something changed, and now and then the others."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from sless.model.function import FunctionRef
from sless.ports.runs import Run
from sless.ports.scene import Standing
from sless.watcher.memory import RECHECK_SECONDS

EACH_SECONDS = 0.02
"""Between judging one Function and the next of those under way: each costs a read of S3, which
tells nobody of outcomes, and so 50 reads a second are the most."""
UNSETTLED_SECONDS = RECHECK_SECONDS
"""The longest until one under way is judged again. Its phases and its end are not waited for: its
run, which is listed each second, tells them."""

Running = Mapping[FunctionRef, tuple[Run, ...]]
"""The runs under way of each function that has any."""


@dataclass(frozen=True, slots=True)
class _Judged:
    standing: Standing
    runs: tuple[Run, ...]
    again: float
    """When it is judged anew although nothing changed."""


@dataclass(slots=True)
class Due:
    """Remembers how each Function stood when it was judged last."""

    clock: Callable[[], float] = time.monotonic
    under_way: set[FunctionRef] = field(default_factory=set)
    """Those that were not settled."""
    _judged: dict[FunctionRef, _Judged] = field(default_factory=dict)

    def pick(self, standings: Mapping[FunctionRef, Standing], running: Running) -> list[Standing]:
        """Those to be judged now; first those that wait longest."""
        now = self.clock()
        due = [
            (ref, standing)
            for ref, standing in standings.items()
            if self._is_due(self._judged.get(ref), standing, running.get(ref, ()), now)
        ]
        return [standing for _, standing in sorted(due, key=self._since)]

    def note(self, standing: Standing, runs: tuple[Run, ...], *, settled: bool) -> None:
        """It was judged; `settled` when nothing is to be done or waited for."""
        ref = standing.stored.function.ref
        if settled:
            self.under_way.discard(ref)
            pause = _spread(ref)
        else:
            self.under_way.add(ref)
            pause = min(UNSETTLED_SECONDS, EACH_SECONDS * len(self.under_way))
        self._judged[ref] = _Judged(standing, runs, self.clock() + pause)

    def keep_only(self, functions: Collection[FunctionRef]) -> None:
        """Forgets functions that are gone."""
        for ref in self._judged.keys() - set(functions):
            del self._judged[ref]
            self.under_way.discard(ref)

    def _since(self, due: tuple[FunctionRef, Standing]) -> float:
        judged = self._judged.get(due[0])
        return judged.again if judged is not None else float("-inf")

    @staticmethod
    def _is_due(
        judged: _Judged | None, standing: Standing, runs: tuple[Run, ...], now: float
    ) -> bool:
        # An unchanged Standing is mostly the identical one, which makes comparing cheap.
        return (
            judged is None
            or now >= judged.again
            or judged.runs != runs
            or not (judged.standing is standing or judged.standing == standing)
        )


def group_runs(runs: Iterable[Run]) -> dict[FunctionRef, tuple[Run, ...]]:
    """By function."""
    grouped: dict[FunctionRef, tuple[Run, ...]] = {}
    for run in sorted(runs, key=lambda run: run.workflow_id):
        grouped[run.function] = (*grouped.get(run.function, ()), run)
    return grouped


def _spread(ref: FunctionRef) -> float:
    """So that what was judged together is not judged together ever after."""
    return RECHECK_SECONDS * (0.5 + hash(ref) % 1000 / 1000)
