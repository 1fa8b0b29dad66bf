"""What a rollout changes on a cluster, and what it leaves alone."""

import asyncio
import json

import pytest
from temporalio.client import Client

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.resources import FUNCTIONS
from sless.adapters.temporal_runs import TemporalRuns
from sless.model.function import FunctionRef
from sless.naming import function_workflow_id
from sless.ports.runs import RunState
from tests.cluster.chart import Values
from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.e2e.mirror import DEPLOYMENT, NAME, Json, Mirror, writes
from tests.cluster.spaces import MANAGER
from tests.e2e.running import wait_until
from tests.fixtures.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

LOOKS, ROUNDS = 100, 10
"""So many looks, in so many runs of the workflow at least."""
NEIGHBOURS = 50
OURS = ("SLESS_", "AWS_", "TEMPORAL_")
"""How variables of the platform begin."""
TOLD = {"SLESS_HANDLER", "SLESS_DRAIN_SECONDS", "SLESS_TERMINATION_LOG"}
"""Those that a function's container may have."""


@pytest.fixture(scope="module")
def mirror(shared_home: ClusterHome, tmp_path_factory: pytest.TempPathFactory) -> Mirror:
    """It was uploaded twice, one right after the other."""
    made = Mirror(shared_home, tmp_path_factory.mktemp("mirror") / NAME)
    made.deploy("one")
    made.deploy("two")
    return made


def running(mirror: Mirror) -> Json:
    """The one pod, once the others have left."""
    mirror.until_available()
    wait_until(lambda: len(mirror.pods()) == 1, within=60, what=lambda: str(mirror.pods()))
    return mirror.pods()[0]


def test_of_two_uploads_the_second_runs(mirror: Mirror) -> None:
    [pod] = running(mirror)["status"]["containerStatuses"]
    image = mirror.status()["image"]
    assert pod["imageID"].rpartition("@")[2] == image.rpartition("@")[2]
    assert mirror.ask()["version"] == "two"
    assert len(mirror.jobs()) == 2


async def test_a_hundred_looks_write_nothing(
    mirror: Mirror, installed: Values, server: ApiServer
) -> None:
    ref = FunctionRef(mirror.home.namespace, NAME)
    client = await Client.connect(installed["settings"]["TEMPORAL_ADDRESS"])
    runs = TemporalRuns(client, ui_url="")
    before = writes(mirror.deployment())
    for round_ in range(ROUNDS):
        marks = {"metadata": {"annotations": {"example.com/count": str(round_)}}}
        await server.patch(FUNCTIONS, ref.namespace, NAME, marks, manager=MANAGER)
        await asyncio.gather(*(runs.look(ref) for _ in range(LOOKS // ROUNDS)))
        await until(lambda: is_over(runs, ref), pause=0.1)
    assert writes(mirror.deployment()) == before


async def is_over(runs: TemporalRuns, ref: FunctionRef) -> bool:
    run = await runs.find(function_workflow_id(ref.namespace, ref.name))
    return run is not None and run.state is not RunState.RUNNING


def test_an_ask_for_the_same_changes_no_pod(mirror: Mirror) -> None:
    before = mirror.deployment()
    mirror.patch(request="again")
    mirror.until_ended()
    after = mirror.deployment()
    # Its notes name the ask that it serves; a Deployment's annotations count in its generation.
    assert after["metadata"]["generation"] == before["metadata"]["generation"] + 1
    assert after["spec"] == before["spec"]


def test_settings_are_rolled_out_without_a_build(mirror: Mirror) -> None:
    jobs = mirror.jobs()
    value = "  ü\r\n$(PORT) $$x\n"
    mirror.home.done("set", NAME, "--env", f"GREETING={value}")
    assert mirror.ask()["env"]["GREETING"] == value.replace("$(PORT)", "8080").replace("$$", "$")
    before = mirror.deployment()["metadata"]["generation"]
    asked = mirror.object()["metadata"]["generation"]
    mirror.home.done("set", NAME, "--env", f"GREETING={value}")
    assert mirror.object()["metadata"]["generation"] == asked
    assert mirror.deployment()["metadata"]["generation"] == before
    assert mirror.jobs() == jobs


def test_what_people_put_on_it_survives(mirror: Mirror) -> None:
    kinds = {"fn": NAME, "deployment": DEPLOYMENT, "service": DEPLOYMENT}
    for kind, name in kinds.items():
        mirror.home.kubectl("label", kind, name, "example.com/team=shop")
        mirror.home.kubectl("annotate", kind, name, "example.com/cost=12")
    mirror.home.done("set", NAME, "--env", "GREETING=survive")
    assert mirror.ask()["env"]["GREETING"] == "survive"
    for kind, name in kinds.items():
        metadata = mirror.object(kind, name)["metadata"]
        assert metadata["labels"]["example.com/team"] == "shop", kind
        assert metadata["annotations"]["example.com/cost"] == "12", kind


def test_pods_can_be_restarted_by_hand(mirror: Mirror) -> None:
    before = running(mirror)["metadata"]["uid"]
    mirror.home.kubectl("rollout", "restart", f"deployment/{DEPLOYMENT}")
    assert running(mirror)["metadata"]["uid"] != before
    mark = mirror.deployment()["spec"]["template"]["metadata"]["annotations"]
    assert "kubectl.kubernetes.io/restartedAt" in mark
    mirror.patch(request="restarted")
    mirror.until_ended()
    # The ask finds what it wants, and so restarts nothing again.
    assert mirror.deployment()["spec"]["template"]["metadata"]["annotations"] == mark


def test_a_number_of_replicas_survives(mirror: Mirror) -> None:
    mirror.home.kubectl("scale", "deployment", DEPLOYMENT, "--replicas=2")
    mirror.until_available()
    # As an autoscaler writes, in the middle of a rollout.
    mirror.home.done("set", NAME, "--env", "GREETING=scaled", "--no-wait")
    mirror.home.kubectl("scale", "deployment", DEPLOYMENT, "--replicas=3")
    mirror.until_ended()
    mirror.home.done("set", NAME, "--env", "GREETING=again")
    assert mirror.deployment()["spec"]["replicas"] == 3
    mirror.home.kubectl("scale", "deployment", DEPLOYMENT, "--replicas=1")
    assert running(mirror)


def test_a_variable_given_twice_is_refused_by_kubectl(mirror: Mirror) -> None:
    twice = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "A", "value": "3"}]
    spec = mirror.object()["spec"]
    metadata = {"name": NAME, "namespace": mirror.home.namespace}
    manifest = {"apiVersion": "sless.io/v1alpha1", "kind": "Function", "metadata": metadata}
    manifest["spec"] = {**spec, "env": twice}
    with pytest.raises(AssertionError, match="names in env must be unique"):
        mirror.home.kubectl("apply", "-f", "-", given=json.dumps(manifest))


def test_an_environment_is_the_functions_own(mirror: Mirror) -> None:
    """Many Services as neighbours: their addresses are in no variable, nor is anything of ours."""
    ports = {"ports": [{"port": 80}]}
    services = [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": f"neighbour-{count}"},
            "spec": ports,
        }
        for count in range(NEIGHBOURS)
    ]
    items = {"apiVersion": "v1", "kind": "List", "items": services}
    mirror.home.kubectl("create", "-f", "-", given=json.dumps(items))
    mirror.home.done("set", NAME, "--env", "GREETING=neighbours")
    told = mirror.ask()
    assert told["env"]["GREETING"] == "neighbours"
    assert told["secrets"] == []
    # The cluster tells every container where its API server is.
    names = {name for name in told["env"] if not name.startswith("KUBERNETES_")}
    assert [name for name in names if "_SERVICE_" in name or "NEIGHBOUR" in name] == []
    assert {name for name in names if name.startswith(OURS)} <= TOLD
