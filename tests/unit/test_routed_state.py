"""What is routed: a table of gateways' addresses and of the pods that listen there."""

from dataclasses import replace

import pytest

from sless.adapters.kubernetes.routed_state import find_routed, host_of
from sless.model.deployment import Deployment, Revision
from sless.model.function import Ask
from sless.model.routed import Routed

OLD = Revision(image="r/x@sha256:1", build="1" * 12, runtime="python3.11")
NEW = replace(OLD, image="r/x@sha256:2", build="2" * 12)
A, B, C, GONE = "10.1.0.1:8080", "10.1.0.2:8080", "[fd00::3]:8080", "10.1.0.9:8080"
INSTANCES = {"10.1.0.1": NEW.instance, "10.1.0.2": OLD.instance, "fd00::3": NEW.instance}

ROLLING = Deployment(
    namespace="team",
    name="hello",
    ask=Ask("uid", 5),
    revision=NEW,
    good=OLD,
    good_generation=3,
)
DONE = replace(ROLLING, good=NEW, good_generation=5)

NEW_ONE, OLD_ONE, NEITHER = (5, NEW.instance), (3, OLD.instance), (0, "")

TABLE = {
    "no gateway": (ROLLING, [], None),
    "no endpoint": (ROLLING, [[]], None),
    "one gateway has none": (ROLLING, [[A], []], None),
    "the new one": (ROLLING, [[A]], NEW_ONE),
    "the new one by IPv6": (ROLLING, [[C]], NEW_ONE),
    "the good one": (ROLLING, [[B]], OLD_ONE),
    "both: the older counts": (ROLLING, [[A, B]], OLD_ONE),
    "one gateway is behind": (ROLLING, [[A], [B]], OLD_ONE),
    "all gateways": (ROLLING, [[A, C], [A]], NEW_ONE),
    "a pod that is gone": (ROLLING, [[A, GONE]], NEITHER),
    "marked good": (DONE, [[A]], NEW_ONE),
    "an older one than the good one": (DONE, [[B]], (0, OLD.instance)),
    "nothing was good yet": (replace(ROLLING, good=None, good_generation=0), [[A]], NEW_ONE),
    "put back: the good one serves the newest ask": (
        replace(ROLLING, revision=OLD),
        [[B]],
        (5, OLD.instance),
    ),
}


@pytest.mark.parametrize(("deployment", "tables", "wanted"), list(TABLE.values()), ids=list(TABLE))
def test_the_oldest_that_a_caller_may_reach_counts(
    deployment: Deployment, tables: list[list[str]], wanted: tuple[int, str] | None
) -> None:
    found = find_routed(deployment, tables=tables, instances=INSTANCES)
    if wanted is None:
        assert found is None
    else:
        assert found == Routed("team", "hello", "uid", *wanted)


def test_without_its_deployment_nothing_is_known() -> None:
    assert find_routed(None, tables=[[A]], instances=INSTANCES) is None


@pytest.mark.parametrize(
    ("address", "host"), [("10.1.0.1:80", "10.1.0.1"), ("[fd00::1]:80", "fd00::1")]
)
def test_an_address_has_a_host(address: str, host: str) -> None:
    assert host_of(address) == host
