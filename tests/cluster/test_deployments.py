"""The contract of Deployments, on an API server whose controllers write the same objects."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.deployment_options import DeploymentOptions
from sless.adapters.kubernetes.deployments import KubernetesDeployments
from sless.adapters.kubernetes.functions import KubernetesFunctions
from sless.adapters.kubernetes.pod_reading import condition
from sless.adapters.kubernetes.resources import DEPLOYMENTS, SERVICES, Resource
from sless.errors import Forbidden, ManagedElsewhere, VersionConflict
from sless.model.deployment import Deployment
from sless.model.function import EnvVar, Function
from sless.ports import Deployments, Functions
from tests.cluster.meddling import LABELS, VARIABLE, Meddler, meddling
from tests.cluster.spaces import MANAGER, ensure_spaces
from tests.contract.test_deployments import *  # noqa: F403  # the contract's tests are the point
from tests.contract.test_deployments import FIRST, SECOND, find, fresh
from tests.fixtures.waiting import until

QUOTAS = Resource("v1", "resourcequotas", "ResourceQuota")


class QuietDeployments(KubernetesDeployments):
    """Waits until the cluster, which may make no ReplicaSet, has said so: then it writes no more.

    A Deployment's status counts in its resourceVersion, so that otherwise any swap may conflict.
    """

    async def create(self, deployment: Deployment) -> Deployment:
        await super().create(deployment)
        await until(self._is_refused)
        return await find(self)

    async def _is_refused(self) -> bool:
        live = await self._server.find(DEPLOYMENTS, "team", "fn-hello")
        return live is not None and bool(
            condition(live, "Progressing").get("reason") == "ReplicaSetCreateError"
        )


@pytest.fixture(autouse=True)
async def space(server: ApiServer) -> AsyncIterator[None]:
    await ensure_spaces(server, ("team",))
    await until(lambda: _is_empty(server))
    yield
    await ensure_spaces(server, ("team",))


async def _is_empty(server: ApiServer) -> bool:
    # What belonged to a Function goes a moment after it.
    return not (await server.list(DEPLOYMENTS, "team", labels="sless.io/function")).items


@pytest.fixture  # type: ignore[no-redef]  # in place of the contract's own
def functions(server: ApiServer) -> Functions:
    return KubernetesFunctions(server)


@pytest.fixture  # type: ignore[no-redef]  # likewise
async def deployments(server: ApiServer) -> AsyncIterator[Deployments]:
    async with quota(server, "no-replica-sets", **{"count/replicasets.apps": "0"}):
        yield QuietDeployments(server, DeploymentOptions())


@contextlib.asynccontextmanager
async def quota(server: ApiServer, name: str, **hard: str) -> AsyncIterator[None]:
    """In force from the start: one that was made just now forbids nothing yet."""
    body = {"metadata": {"name": name}, "spec": {"hard": hard}}
    await server.delete(QUOTAS, "team", name)
    await server.create(QUOTAS, "team", body, manager=MANAGER)

    async def is_in_force() -> bool:
        found = await server.find(QUOTAS, "team", name)
        return found is not None and "hard" in found.get("status", {})

    await until(is_in_force)
    try:
        yield
    finally:
        await server.delete(QUOTAS, "team", name)


async def test_it_goes_with_its_function(  # type: ignore[no-redef]  # likewise: a moment later
    deployments: Deployments, functions: Functions, deployed: Deployment
) -> None:
    await functions.delete("team", "hello")

    async def is_gone() -> bool:
        return await deployments.find("team", "hello") is None

    await until(is_gone)
    with pytest.raises(VersionConflict, match="gone"):
        await deployments.swap(replace(deployed, revision=SECOND))


@pytest.mark.usefixtures("deployed")
async def test_what_a_hand_added_is_taken_back(server: ApiServer, deployments: Deployments) -> None:
    template = {
        "metadata": {"annotations": {"sless.io/retry": "9"}},
        "spec": {
            "containers": [{"name": "function", "image": "busybox", "env": [{"name": "HAND"}]}]
        },
    }
    body = {"metadata": {"name": "fn-hello"}, "spec": {"template": template}}
    await server.apply(DEPLOYMENTS, "team", body, manager="hand", force=True)
    changed = await find(deployments)
    assert changed.revision.hash != FIRST.hash
    assert EnvVar("HAND", "") in changed.revision.env
    written = await deployments.swap(replace(changed, revision=FIRST))
    assert written.revision == FIRST


@pytest.mark.usefixtures("deployed")
async def test_what_an_autoscaler_wants_stays(server: ApiServer, deployments: Deployments) -> None:
    await server.patch(
        DEPLOYMENTS, "team", "fn-hello", {"spec": {"replicas": 3}}, manager="autoscaler"
    )
    await deployments.swap(replace(await find(deployments), revision=SECOND))
    live = await server.find(DEPLOYMENTS, "team", "fn-hello")
    assert live is not None
    assert live["spec"]["replicas"] == 3


async def test_its_service_is_there_and_comes_back(
    server: ApiServer, deployments: Deployments, deployed: Deployment
) -> None:
    assert await server.delete(SERVICES, "team", "fn-hello")
    hidden = await find(deployments)
    assert not hidden.exposed
    await deployments.swap(hidden)
    found = await find(deployments)
    assert found.exposed
    assert found.resource_version == hidden.resource_version
    service = await server.find(SERVICES, "team", "fn-hello")
    assert service is not None
    assert service["spec"]["selector"] == {"sless.io/function": "hello"}
    owners = service["metadata"]["ownerReferences"]
    assert [each["uid"] for each in owners] == [deployed.ask.uid]


@pytest.mark.usefixtures("deployed")
@pytest.mark.parametrize(
    "change",
    [
        {"spec": {"selector": {"by": "hand"}}},
        {"spec": {"ports": [{"name": "http", "port": 80, "targetPort": 9}]}},
        {"spec": {"type": "ExternalName", "externalName": "a.test", "clusterIP": None}},
        {"metadata": {"labels": {"sless.io/uid": None}}},
    ],
    ids=["selector", "port", "elsewhere", "label"],
)
async def test_a_service_that_a_hand_changed_is_put_right(
    server: ApiServer, deployments: Deployments, change: dict[str, object]
) -> None:
    assert await server.patch(SERVICES, "team", "fn-hello", change, manager="hand")
    hidden = await find(deployments)
    assert not hidden.exposed
    await deployments.swap(hidden)
    assert (await find(deployments)).exposed


@pytest.mark.parametrize(
    "change",
    [{"labels": {"sless.io/function": None}}, {"ownerReferences": None}],
    ids=["label", "owner"],
)
async def test_what_a_hand_took_from_it_is_put_back(
    server: ApiServer,
    deployments: Deployments,
    deployed: Deployment,
    change: dict[str, object],
) -> None:
    taken = {"metadata": change}
    assert await server.patch(DEPLOYMENTS, "team", "fn-hello", taken, manager="hand")
    found = await find(deployments)
    assert not found.exposed
    await deployments.swap(found)
    assert (await find(deployments)).exposed
    live = await server.find(DEPLOYMENTS, "team", "fn-hello")
    assert live is not None
    assert live["metadata"]["labels"]["sless.io/function"] == "hello"
    assert [each["uid"] for each in live["metadata"]["ownerReferences"]] == [deployed.ask.uid]


@pytest.mark.usefixtures("deployed")
async def test_what_a_hand_adds_to_a_service_is_its_own(
    server: ApiServer, deployments: Deployments
) -> None:
    more = {
        "metadata": {"labels": {"team": "x"}, "annotations": {"scrape": "yes"}},
        "spec": {"type": "NodePort", "sessionAffinity": "ClientIP"},
    }
    assert await server.patch(SERVICES, "team", "fn-hello", more, manager="hand")
    assert (await find(deployments)).exposed


async def test_somebody_elses_service_is_not_taken(
    server: ApiServer, deployments: Deployments, function: Function
) -> None:
    await server.delete(SERVICES, "team", "fn-hello")
    shop = {"selector": {"app": "shop"}, "ports": [{"port": 80}]}
    body = {"metadata": {"name": "fn-hello"}, "spec": shop}
    await server.create(SERVICES, "team", body, manager="hand")
    with pytest.raises(ManagedElsewhere, match=r"Service team/fn-hello .* another name"):
        await deployments.create(fresh(function))
    assert await deployments.find("team", "hello") is None
    found = await server.find(SERVICES, "team", "fn-hello")
    assert found is not None
    assert found["spec"]["selector"] == {"app": "shop"}
    await server.delete(SERVICES, "team", "fn-hello")


async def test_where_there_may_be_no_service_nothing_runs(
    server: ApiServer, deployments: Deployments, function: Function
) -> None:
    await server.delete(SERVICES, "team", "fn-hello")
    async with quota(server, "no-services", services="0"):
        with pytest.raises(Forbidden, match="exceeded quota: no-services"):
            await deployments.create(fresh(function))
        assert await deployments.find("team", "hello") is None


@pytest.mark.usefixtures("deployed")
async def test_a_foreign_object_of_that_name_is_not_taken(
    server: ApiServer, deployments: Deployments, function: Function
) -> None:
    gone = {"metadata": {"annotations": {"sless.io/uid": None}}}
    await server.patch(DEPLOYMENTS, "team", "fn-hello", gone, manager="hand")
    assert await deployments.find("team", "hello") is None
    with pytest.raises(ManagedElsewhere, match=r"team/fn-hello .* delete it"):
        await KubernetesDeployments(server, DeploymentOptions()).create(fresh(function))


@pytest.mark.parametrize("meddler", [LABELS, VARIABLE], ids=lambda meddler: meddler.mark)
async def test_what_a_policy_adds_to_each_write_is_no_drift(
    server: ApiServer, deployments: Deployments, function: Function, meddler: Meddler
) -> None:
    with meddling("team", meddler):
        created = await deployments.create(fresh(function))
        assert created.revision == FIRST
        second = await deployments.swap(replace(created, revision=SECOND))
        assert (await find(deployments)).revision == SECOND
        good = await deployments.swap(replace(second, good=SECOND))
        assert (await find(deployments)).is_good
        assert await deployments.swap(good) == good
    live = await server.find(DEPLOYMENTS, "team", "fn-hello")
    assert live is not None
    assert meddler.mark in str(live["spec"]["template"])
