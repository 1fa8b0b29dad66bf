"""The contract of builders on a real cluster, and what can go wrong in a pod."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.job_options import Resources
from sless.adapters.kubernetes.resources import JOBS, PODS
from sless.adapters.kubernetes.slow_start import Graces
from sless.errors import SecretMissing
from sless.model.attempt import AttemptState
from sless.naming import attempt_tag, job_name
from tests.cluster.build_rig import BUILD_SECONDS, RUNTIME, SPACE, BuildRig, F, building
from tests.cluster.objects import REGISTRY_SECRET
from tests.component.contexts import HELLO, IN_TREE, make_sdist, silence
from tests.contract.test_builder import (  # noqa: F401 - collected here, for another builder
    Works,
    test_a_bad_build_says_why,
    test_a_deleted_attempt_is_lost,
    test_a_good_build_is_in_the_registry_under_its_attempts_tag,
    test_a_log_can_be_read_in_pieces,
    test_an_attempt_that_is_there_is_adopted,
    test_another_functions_job_is_not_adopted,
    test_deleting_what_is_not_there_is_no_error,
)
from tests.fixtures.waiting import until

pytestmark = pytest.mark.cluster
EXAMPLE = Path(__file__).parents[2] / "examples" / "hello"
HUNGRY = {"pyproject.toml": IN_TREE, "backend.py": "taken = bytes(range(1, 256)) * 10_000_000\n"}
"""A package whose build takes 2.5 GB."""
IMPATIENT = Graces(unschedulable=3, other=3)


@pytest.fixture
async def rig(server: ApiServer, tmp_path: Path) -> AsyncIterator[BuildRig]:
    async with building(server, tmp_path) as rig:
        yield rig


@pytest.fixture
async def works(rig: BuildRig) -> AsyncIterator[Works]:
    host = rig.url.removeprefix("http://").partition(":")[0]
    with silence(host=host) as index:
        good = rig.attempt({"handler.py": HELLO})
        yield Works(
            builder=rig.builder,
            images=rig.images,
            url=rig.url,
            good=good,
            bad=rig.attempt({"handler.py": HELLO, "requirements.txt": "six>=99"}),
            endless=rig.attempt(
                {"handler.py": HELLO, "requirements.txt": f"-i {index}/simple\nsix"}
            ),
            wait=BUILD_SECONDS,
        )


async def test_an_example_is_built_and_its_digest_is_one(rig: BuildRig) -> None:
    """Case C8: what the pod says, what the registry answers, and what its tag gets."""
    files = {
        str(path.relative_to(EXAMPLE)): path.read_bytes()
        for path in EXAMPLE.rglob("*")
        if path.is_file()
    }
    attempt = rig.attempt(files)
    status = await rig.build(attempt)
    assert status.state is AttemptState.SUCCEEDED, status
    tag = attempt_tag(attempt.build, attempt.nonce)
    assert await rig.images.find(F, tag) == status.digest
    promoted = await rig.images.promote(F, digest=status.digest, tag=attempt.build)
    assert promoted == status.digest
    assert rig.images.reference(F, promoted).endswith(f"team/thumb@{status.digest}")


async def test_what_does_not_install_is_told_in_the_installers_words(rig: BuildRig) -> None:
    status = await rig.build(rig.attempt({"handler.py": HELLO, "requirements.txt": "six>=99"}))
    assert (status.state, status.reason) == (AttemptState.FAILED, "DependencyInstallFailed")
    assert "six>=99" in status.message


async def test_a_private_base_image_and_a_private_target(rig: BuildRig) -> None:
    """Case C4: the container that builds holds neither password."""
    public = rig.options.base_images[RUNTIME]
    private = f"{rig.options.place.push}/private/python:1"
    copy = ["skopeo", "--insecure-policy", "copy", "--quiet", f"--dest-authfile={rig.auth}"]
    plain = ["--src-tls-verify=false", "--dest-tls-verify=false"]
    command = [*copy, *plain, f"docker://{public}", f"docker://{private}"]
    await asyncio.to_thread(subprocess.run, command, check=True)
    based = rig.changed(base_secret=REGISTRY_SECRET, base_images={RUNTIME: private})
    status = await based.build(based.attempt({"handler.py": HELLO}))
    assert status.state is AttemptState.SUCCEEDED, status
    without = rig.changed(base_images={RUNTIME: private})
    refused = await without.build(without.attempt({"handler.py": HELLO}))
    assert (refused.state, refused.reason) == (AttemptState.FAILED, "RegistryDenied"), refused


async def test_a_builder_that_cannot_be_pulled(rig: BuildRig) -> None:
    """Case D3."""
    images = replace(rig.options.images, build=f"{rig.options.images.build}-nothing")
    wrong = rig.changed(images=images, graces=IMPATIENT)
    status = await wrong.build(wrong.attempt({"handler.py": HELLO}))
    assert (status.state, status.reason) == (AttemptState.FAILED, "BuildNotStarted")
    assert "-nothing" in status.message
    assert "container build" in status.message


async def test_a_processor_that_no_node_has(rig: BuildRig) -> None:
    """Case D3."""
    wrong = rig.changed(build=Resources("900", "64Mi", "1Gi"), graces=IMPATIENT)
    status = await wrong.build(wrong.attempt({"handler.py": HELLO}))
    assert (status.state, status.reason) == (AttemptState.FAILED, "BuildNotStarted")
    assert "Insufficient cpu" in status.message


async def test_a_missing_secret_leaves_no_job(rig: BuildRig) -> None:
    """Case C4."""
    wrong = rig.changed(push_secret="forgotten")
    attempt = wrong.attempt({"handler.py": HELLO})
    with pytest.raises(SecretMissing, match="forgotten"):
        await wrong.start(attempt)
    name = job_name(attempt.name, attempt.build, attempt.nonce)
    assert await rig.server.find(JOBS, SPACE, name) is None


async def test_a_build_that_needs_more_memory(rig: BuildRig) -> None:
    """Case C1."""
    small = rig.changed(build=Resources("100m", "64Mi", "300Mi"))
    make_sdist("hungry", HUNGRY, rig.web / "links")
    requirements = f"--find-links {rig.url}/links/\nhungry==1.0\n"
    files = {"handler.py": HELLO, "requirements.txt": requirements}
    status = await small.build(small.attempt(files))
    assert (status.state, status.reason) == (AttemptState.FAILED, "OutOfMemory"), status
    assert "300Mi" in status.message


async def test_a_build_that_takes_too_long(rig: BuildRig) -> None:
    host = rig.url.removeprefix("http://").partition(":")[0]
    with silence(host=host) as index:
        files = {"handler.py": HELLO, "requirements.txt": f"-i {index}/simple\nsix"}
        status = await rig.build(rig.attempt(files, deadline=20))
    assert (status.state, status.reason) == (AttemptState.FAILED, "BuildTimedOut"), status


async def test_a_pod_that_is_deleted_is_lost_and_not_made_again(rig: BuildRig) -> None:
    host = rig.url.removeprefix("http://").partition(":")[0]
    with silence(host=host) as index:
        files = {"handler.py": HELLO, "requirements.txt": f"-i {index}/simple\nsix"}
        attempt = rig.attempt(files)
        await rig.start(attempt)
        await rig.reached(attempt, AttemptState.RUNNING)
        [pod] = await rig.pods(attempt)
        await rig.server.delete(PODS, SPACE, pod)
        status = await rig.reached(attempt, AttemptState.FAILED)
    assert status.reason == "BuildLost", status
    await rig.builder.delete(attempt)

    async def is_gone() -> bool:
        return not await rig.pods(attempt)

    await until(is_gone)
