"""The life of an upload, end to end on a real Temporal server."""

import asyncio
import base64
import re
from typing import Any

import pytest
from temporalio.client import WorkflowHandle

from sless.model.phase import Phase
from sless.naming import build_id
from tests.fakes.builder import Fail, Hang, Succeed
from tests.fixtures.waiting import until
from tests.workflow.rig import Rig

pytestmark = pytest.mark.real


async def test_an_upload_ends_ready(rig: Rig) -> None:
    async with rig.worker():
        key = await rig.upload()
        outcome = await rig.outcome(await rig.ask(key))
        await rig.ended()
    assert (outcome.phase, outcome.reason, outcome.attempts) == (Phase.READY, "Ready", 1)
    assert [step.name for step in outcome.steps] == [
        "find image",
        "prepare context",
        "build image",
        "promote image",
        "roll out",
    ]
    assert await rig.serving() == build_id(key)
    assert outcome.image == rig.images.reference(rig.ref, rig.images.tags(rig.ref)[build_id(key)])


async def test_the_log_is_in_s3(rig: Rig) -> None:
    rig.builder.scripts.append(Hang())
    async with rig.worker():
        function = await rig.ask(await rig.upload())
        nonce = await rig.job()
        rig.builder.write_log(nonce, b"installing\n")
        await until(lambda: rig.objects.list(f"logs/{rig.namespace}/"))
        rig.builder.write_log(nonce, b"done\n")
        rig.builder.release(nonce, Succeed())
        outcome = await rig.outcome(function)
    keys = await rig.objects.list(outcome.log_prefix)
    whole = b"".join([await rig.objects.get(key) for key in keys])
    assert whole.endswith(b"installing\ndone\n")


async def test_twenty_looks_at_once_make_one_build(rig: Rig) -> None:
    async with rig.worker():
        function = await rig.ask(await rig.upload(), look=False)
        await asyncio.gather(*(rig.look() for _ in range(20)))
        await rig.outcome(function)
        await rig.ended()
    assert len(rig.builder.created) == 1


async def test_the_same_zip_after_success_is_not_built_again(rig: Rig) -> None:
    async with rig.worker():
        key = await rig.upload()
        await rig.outcome(await rig.ask(key))
        again = await rig.outcome(await rig.ask(key))
    assert again.phase is Phase.READY
    assert len(rig.builder.created) == 1


async def test_a_failed_build_is_not_run_again_by_a_late_look(rig: Rig) -> None:
    rig.builder.scripts.append(Fail("DependencyInstallFailed", "No matching distribution."))
    async with rig.worker():
        function = await rig.ask(await rig.upload())
        outcome = await rig.outcome(function)
        await rig.ended()
        await rig.look()
        await rig.ended()
        assert outcome.phase is Phase.FAILED
        assert (outcome.reason, outcome.message) == (
            "DependencyInstallFailed",
            "No matching distribution.",
        )
        assert len(rig.builder.created) == 1
        retried = await rig.outcome(await rig.ask(function.spec.s3_key))
    assert retried.phase is Phase.READY
    assert len(rig.builder.created) == 2


async def test_settings_changed_while_building_ride_along(rig: Rig) -> None:
    rig.builder.scripts.append(Hang())
    async with rig.worker():
        key = await rig.upload()
        await rig.ask(key)
        nonce = await rig.job()
        newer = await rig.ask(key, env=[{"name": "A", "value": "1"}])
        rig.builder.release(nonce)
        outcome = await rig.outcome(newer)
        await rig.ended()
    assert outcome.phase is Phase.READY
    assert len(rig.builder.created) == 1
    deployed = await rig.deployments.find(rig.namespace, rig.name)
    assert deployed is not None
    assert [(item.name, item.value) for item in deployed.revision.env] == [("A", "1")]


async def test_a_newer_upload_supersedes(rig: Rig) -> None:
    rig.builder.scripts.append(Hang())
    async with rig.worker():
        slow = await rig.upload("def handler(r): return 'slow'")
        older = await rig.ask(slow)
        nonce = await rig.job()
        fast = await rig.upload("def handler(r): return 'fast'")
        outcome = await rig.outcome(await rig.ask(fast))
        await rig.ended()
        description = await rig.build_handle(slow).describe()
    assert outcome.phase is Phase.READY
    assert description.status is not None
    assert description.status.name == "CANCELED"
    assert rig.builder.deleted == [nonce]
    assert await rig.find_outcome(older) is None
    assert await rig.serving() == build_id(fast)
    superseded = await until(lambda: rig.runs.superseded(rig.ref))
    assert [(run.ask, run.s3_key, run.attempts) for run in superseded] == [(older.ask, slow, 1)]


async def test_a_b_a_leaves_one_job_each(rig: Rig) -> None:
    rig.builder.scripts.extend([Hang(), Hang()])
    async with rig.worker():
        a, b = await rig.upload("a = 1"), await rig.upload("b = 1")
        await rig.ask(a)
        first = await rig.job(1)
        await rig.ask(b)
        second = await rig.job(2)
        outcome = await rig.outcome(await rig.ask(a))
        await rig.ended()
    assert outcome.phase is Phase.READY
    assert await rig.serving() == build_id(a)
    assert rig.builder.deleted == [first, second]
    assert len(rig.builder.created) == 3


async def test_a_crashing_revision_is_put_back(rig: Rig) -> None:
    async with rig.worker():
        good, bad = await rig.upload("a = 1"), await rig.upload("b = 1")
        await rig.outcome(await rig.ask(good))
        rig.runner.crashing.add(build_id(bad))
        outcome = await rig.outcome(await rig.ask(bad))
        await rig.ended()
        assert (outcome.phase, outcome.reason) == (Phase.FAILED, "FunctionCrashed")
        assert outcome.message == "ValueError: broken"
        assert await rig.serving() == build_id(good)
        # Looked at again, it stays; asked for again, it is judged anew.
        await rig.look()
        await rig.ended()
        rig.runner.crashing.clear()
        again = await rig.outcome(await rig.ask(bad))
    assert again.phase is Phase.READY
    assert await rig.serving() == build_id(bad)


async def test_a_rollout_that_is_refused_is_tried_once(rig: Rig) -> None:
    async with rig.worker():
        key = await rig.upload()
        good = await rig.outcome(await rig.ask(key))
        await rig.ended()
        await rig.database.write(
            lambda connection: connection.execute("UPDATE deployments SET ask_generation = 99")
        )
        function = await rig.ask(key, handler="handler:handler")
        outcome = await rig.outcome(function)
        await rig.ended()
        assert (outcome.phase, outcome.message) == (
            Phase.FAILED,
            "Generation 99 is rolled out already.",
        )
        history = (await rig.handle().fetch_history()).to_json()
    assert history.count('"roll_out"') == 1
    assert await rig.serving() == good.build


async def test_a_lost_job_is_tried_again(rig: Rig) -> None:
    rig.builder.scripts.append(Hang())
    async with rig.worker():
        function = await rig.ask(await rig.upload())
        rig.builder.lose(await rig.job())
        outcome = await rig.outcome(function)
    assert (outcome.phase, outcome.attempts) == (Phase.READY, 2)
    assert set(rig.builder.created.values()) == {1}


async def test_a_success_without_a_manifest_has_failed(rig: Rig) -> None:
    rig.builder.scripts.append(Succeed(pushes=False))
    async with rig.worker():
        outcome = await rig.outcome(await rig.ask(await rig.upload()))
    assert (outcome.phase, outcome.attempts) == (Phase.READY, 2)


async def test_a_deleted_function_ends_its_build_and_leaves_nothing(rig: Rig) -> None:
    rig.builder.scripts.append(Hang())
    async with rig.worker():
        key = await rig.upload()
        await rig.ask(key)
        nonce = await rig.job()
        await rig.functions.delete(rig.namespace, rig.name)
        await rig.look()
        await rig.ended()
        assert rig.builder.deleted == [nonce]
        assert await rig.deployments.find(rig.namespace, rig.name) is None
        again = await rig.outcome(await rig.ask(key))
    assert again.phase is Phase.READY
    assert again.ask.generation == 1


async def test_an_image_deleted_by_hand_is_built_again_with_its_deployment(rig: Rig) -> None:
    async with rig.worker():
        function = await rig.ask(await rig.upload())
        outcome = await rig.outcome(function)
        await rig.ended()
        rig.images.remove(rig.ref, outcome.image.split("@")[1])
        deployment = await rig.deployments.find(rig.namespace, rig.name)
        assert deployment is not None
        await rig.deployments.delete(deployment)
        await rig.look()
        await rig.ended()
        assert len(rig.builder.created) == 2
        assert await rig.serving() == build_id(function.spec.s3_key)


async def test_a_repair_that_fails_is_not_tried_twice(rig: Rig) -> None:
    async with rig.worker():
        function = await rig.ask(await rig.upload())
        outcome = await rig.outcome(function)
        await rig.ended()
        rig.images.remove(rig.ref, outcome.image.split("@")[1])
        deployment = await rig.deployments.find(rig.namespace, rig.name)
        assert deployment is not None
        await rig.deployments.delete(deployment)
        rig.builder.scripts.append(Fail())
        for _ in range(3):
            await rig.look()
            await rig.ended()
    assert len(rig.builder.created) == 2
    assert await rig.outcome(function) == outcome


async def test_values_of_variables_never_enter_a_history(rig: Rig) -> None:
    secret = [{"name": "PASSWORD", "value": "hunter2-in-no-history"}]
    async with rig.worker():
        key = await rig.upload()
        outcome = await rig.outcome(await rig.ask(key, env=secret))
        await rig.ended()
        answering, building = await payloads(rig.handle()), await payloads(rig.build_handle(key))
        # A Deployment without its Function: what is cleaned up is in the history too.
        await rig.functions.delete(rig.namespace, rig.name)
        await rig.look()
        await rig.ended()
        cleaning = await payloads(rig.handle())
    assert outcome.revision
    assert b"PASSWORD" in answering, "the payloads were found"
    assert b"hunter2" not in answering + building + cleaning


async def payloads(handle: WorkflowHandle[Any, Any]) -> bytes:
    history = (await handle.fetch_history()).to_json()
    found = re.findall(r'"data":\s*"([^"]+)"', history)
    return b"".join(base64.b64decode(payload) for payload in found)
