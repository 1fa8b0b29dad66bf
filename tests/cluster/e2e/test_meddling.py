"""Something on the cluster changes Deployments whenever they are written, as policies do."""

import uuid

import pytest

from tests.cluster.e2e.mirror import DEPLOYMENT, NAME, Mirror, until_version, writes
from tests.cluster.meddling import LABELS, VARIABLE, Meddler, meddling
from tests.e2e.running import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

LOOKS = 10
GOOD = "sless.io/good"
"""The last note of a rollout."""


@pytest.fixture(scope="module")
def mirror(serving: Mirror) -> Mirror:
    """It served before anything meddled."""
    return serving


def is_left_alone(mirror: Mirror) -> bool:
    """Whether looks write nothing, and an ask for what is there already writes its notes alone."""
    mirror.until_available()
    before = mirror.deployment()
    for count in range(LOOKS):
        mirror.home.kubectl("annotate", "fn", NAME, f"example.com/count={count}", "--overwrite")
    assert writes(mirror.deployment()) == writes(before)
    mirror.patch(request=uuid.uuid4().hex)
    mirror.until_ended()
    after = mirror.deployment()
    assert after["metadata"]["generation"] == before["metadata"]["generation"] + 1
    return bool(after["spec"] == before["spec"])


def delete_and_wait(mirror: Mirror) -> None:
    """Deletes its Deployment by hand, and waits until another one serves and nobody writes it."""
    gone = mirror.deployment()["metadata"]["uid"]
    mirror.home.kubectl("delete", "deployment", DEPLOYMENT)
    wait_until(
        lambda: any(
            each["metadata"]["uid"] != gone and GOOD in each["metadata"]["annotations"]
            for each in mirror.deployments()
        ),
        within=90,
        what=lambda: f"another one is good: {mirror.deployments()}",
    )
    until_version(mirror, "one")
    mirror.until_ended()


@pytest.mark.parametrize("meddler", [LABELS, VARIABLE], ids=lambda meddler: meddler.mark)
def test_what_is_added_to_each_write_makes_no_storm(mirror: Mirror, meddler: Meddler) -> None:
    with meddling(mirror.home.namespace, meddler):
        mirror.home.done("set", NAME, "--env", f"GREETING={meddler.mark}")
        assert is_left_alone(mirror)
        assert mirror.ask()["env"]["GREETING"] == meddler.mark
        assert meddler.mark in str(mirror.deployment()["spec"]["template"])

        delete_and_wait(mirror)
        assert is_left_alone(mirror)
        assert meddler.mark in str(mirror.deployment()["spec"]["template"])
    mirror.home.done("set", NAME, "--env", "GREETING=free")
    assert meddler.mark not in mirror.ask()["env"]
