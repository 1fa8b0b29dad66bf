"""What each part may do in the cluster, and what it may not."""

import pytest

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.resources import Resource
from tests.cluster.chart import BUILDS, SYSTEM
from tests.cluster.spaces import MANAGER

REVIEWS = Resource("authorization.k8s.io/v1", "subjectaccessreviews", "SubjectAccessReview")

MAY = [
    ("api", "patch", "sless.io/functions", "team"),
    ("api", "delete", "sless.io/functions", "team"),
    ("api", "list", "/events", "team"),
    ("api", "list", "/events", BUILDS),
    ("worker", "get", "sless.io/functions", "team"),
    ("worker", "patch", "apps/deployments", "team"),
    ("worker", "create", "/services", "team"),
    ("worker", "list", "/pods", "team"),
    ("worker", "list", "/events", BUILDS),
    ("worker", "create", "batch/jobs", BUILDS),
    ("worker", "get", "/pods/log", BUILDS),
    ("worker", "get", "/secrets", BUILDS),
    ("worker", "get", "/configmaps", BUILDS),
    ("watcher", "patch", "sless.io/functions/status", "team"),
    ("watcher", "watch", "sless.io/functions", None),
    ("watcher", "watch", "/services", None),
    ("gateway", "watch", "discovery.k8s.io/endpointslices", None),
]
MAY_NOT = [
    ("api", "patch", "sless.io/functions/status", "team"),
    ("api", "create", "apps/deployments", "team"),
    ("api", "list", "/secrets", "team"),
    ("api", "list", "/pods", "team"),
    ("api", "list", "/pods", BUILDS),
    ("api", "create", "batch/jobs", BUILDS),
    ("worker", "patch", "sless.io/functions", "team"),
    ("worker", "patch", "sless.io/functions/status", "team"),
    ("worker", "create", "batch/jobs", "team"),
    ("worker", "get", "/secrets", "team"),
    ("worker", "get", "/configmaps", "team"),
    ("worker", "list", "/events", "team"),
    ("worker", "create", "/pods", BUILDS),
    ("worker", "create", "/pods/exec", "team"),
    ("watcher", "patch", "sless.io/functions", "team"),
    ("watcher", "patch", "apps/deployments", "team"),
    ("watcher", "get", "/secrets", BUILDS),
    ("gateway", "patch", "sless.io/functions/status", "team"),
    ("gateway", "get", "/secrets", "team"),
    ("gateway", "list", "/pods", "team"),
    ("gateway", "list", "apps/deployments", "team"),
    ("gateway", "list", "sless.io/functions", "team"),
    ("gateway", "patch", "discovery.k8s.io/endpointslices", "team"),
]


async def is_allowed(
    server: ApiServer, part: str, verb: str, what: str, namespace: str | None
) -> bool:
    group, resource, *sub = what.split("/")
    attributes = {"verb": verb, "group": group, "resource": resource, "namespace": namespace or ""}
    if sub:
        attributes["subresource"] = sub[0]
    user = f"system:serviceaccount:{SYSTEM}:sless-{part}"
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{SYSTEM}", "system:authenticated"]
    asked = {"user": user, "groups": groups, "resourceAttributes": attributes}
    answer = await server.create(REVIEWS, None, {"metadata": {}, "spec": asked}, manager=MANAGER)
    return bool(answer["status"]["allowed"])


@pytest.mark.parametrize(("part", "verb", "what", "namespace"), MAY)
async def test_a_part_may_do_its_work(
    server: ApiServer, part: str, verb: str, what: str, namespace: str | None
) -> None:
    assert await is_allowed(server, part, verb, what, namespace)


@pytest.mark.parametrize(("part", "verb", "what", "namespace"), MAY_NOT)
async def test_a_part_may_do_no_more(
    server: ApiServer, part: str, verb: str, what: str, namespace: str | None
) -> None:
    assert not await is_allowed(server, part, verb, what, namespace)
