"""Runs that do nothing but turn from phase to phase, for whoever watches them."""

from typing import Any

from temporalio import workflow

from sless import attributes


@workflow.defn(name=attributes.FUNCTION_WORKFLOW)
class Phases:
    """A function workflow, as far as it is seen from outside."""

    def __init__(self) -> None:
        self._ended = False

    @workflow.run
    async def run(self, _order: Any) -> None:
        """Until it is told to end."""
        await workflow.wait_condition(lambda: self._ended)

    @workflow.signal
    def look(self) -> None:
        """Nothing is to be seen."""

    @workflow.signal
    def turn(self, phase: str) -> None:
        """To that phase; without one, to its end."""
        if not phase:
            self._ended = True
            return
        workflow.upsert_search_attributes(
            [attributes.PHASE.value_set(phase), attributes.REASON.value_set(phase)]
        )


@workflow.defn(name=attributes.BUILD_WORKFLOW)
class PhasesBuild(Phases):
    """A build."""

    @workflow.run
    async def run(self, _order: Any) -> None:
        """Likewise."""
        await workflow.wait_condition(lambda: self._ended)
