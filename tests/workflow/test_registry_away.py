"""A registry that is away, or refuses us: the ask says so, waits, and can be cancelled."""

from datetime import timedelta

import pytest

from sless.model.phase import Phase
from sless.naming import function_workflow_id
from tests.fixtures.waiting import until
from tests.workflow.rig import Rig
from workflows.options import REGISTRY_PATIENCE, REGISTRY_PAUSE, pause_before_asking

pytestmark = pytest.mark.real


async def until_told(rig: Rig) -> None:
    """Until the run says what it waits for."""

    async def is_told() -> bool:
        run = await rig.runs.find(function_workflow_id(rig.namespace, rig.name))
        told = run is not None and (run.phase, run.reason) == (Phase.PENDING, "RegistryUnavailable")
        return told and run is not None and "asked again" in run.message

    await until(is_told)


async def test_an_ask_waits_for_the_registry_and_says_so(rig: Rig) -> None:
    rig.images.unavailable = True
    async with rig.worker():
        function = await rig.ask(await rig.upload())
        await until_told(rig)
        rig.images.unavailable = False
        outcome = await rig.outcome(function)
        await rig.ended()
    assert outcome.phase is Phase.READY
    assert len(rig.builder.created) == 1


async def test_what_waits_for_the_registry_can_be_cancelled(rig: Rig) -> None:
    rig.images.unavailable = True
    async with rig.worker():
        function = await rig.ask(await rig.upload())
        await until_told(rig)
        await rig.cancel(function)
        outcome = await rig.outcome(function)
        await rig.ended()
    assert outcome.phase is Phase.CANCELLED
    assert not rig.builder.created


async def test_what_waits_for_the_registry_ends_with_its_function(rig: Rig) -> None:
    rig.images.unavailable = True
    async with rig.worker():
        await rig.ask(await rig.upload())
        await until_told(rig)
        await rig.functions.delete(rig.namespace, rig.name)
        await rig.look()
        await rig.ended()


async def test_a_registry_that_refuses_us_is_told_at_once(rig: Rig) -> None:
    rig.images.denied = True
    async with rig.worker():
        outcome = await rig.outcome(await rig.ask(await rig.upload()))
        await rig.ended()
        assert (outcome.phase, outcome.reason) == (Phase.FAILED, "RegistryDenied")
        assert outcome.message == "The registry refuses our password."
        rig.images.denied = False
        again = await rig.outcome(await rig.ask(outcome.s3_key))
    assert again.phase is Phase.READY


def test_it_is_asked_ever_later_and_given_up() -> None:
    waits = [pause_before_asking(timedelta(seconds=away)) for away in (0, 1, 8, 60, 599)]
    assert waits == [
        *(timedelta(seconds=wait) for wait in (1, 1, 8)),
        REGISTRY_PAUSE,
        REGISTRY_PAUSE,
    ]
    assert pause_before_asking(REGISTRY_PATIENCE) is None
