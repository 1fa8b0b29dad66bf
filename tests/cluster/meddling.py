"""Something that changes Deployments of a namespace whenever they are written, as policies do."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.cluster.chart import run
from tests.e2e.running import wait_until

GROUP = "admissionregistration.k8s.io/v1"


@dataclass(frozen=True, slots=True)
class Meddler:
    """What a policy adds."""

    expression: str
    """In CEL: what is merged into a Deployment."""
    mark: str
    """Stands in what it has changed."""


LABELS = Meddler(
    mark="example.com/cost-centre",
    expression="""Object{
      metadata: Object.metadata{labels: {"example.com/cost-centre": "12"}},
      spec: Object.spec{template: Object.spec.template{
        metadata: Object.spec.template.metadata{labels: {"example.com/cost-centre": "12"}}}}
    }""",
)
VARIABLE = Meddler(
    mark="HTTP_PROXY",
    expression="""Object{
      spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
        containers: [Object.spec.template.spec.containers{
          name: "function",
          env: [Object.spec.template.spec.containers.env{name: "HTTP_PROXY", value: "proxy:3128"}]
        }]}}}
    }""",
)


@contextlib.contextmanager
def meddling(namespace: str, meddler: Meddler) -> Iterator[None]:
    """Each write of a Deployment there gets that added, from the first on."""
    policies = json.dumps(_list(*_render_policy(f"meddle-{namespace}", namespace, meddler)))
    run("kubectl", "create", "-f", "-", given=policies)
    try:
        wait_until(
            lambda: meddler.mark in _probe(namespace), within=30, what="the policy is in force"
        )
        yield
    finally:
        run("kubectl", "delete", "-f", "-", "--ignore-not-found", given=policies)
        wait_until(lambda: meddler.mark not in _probe(namespace), within=30, what="it is not")


def _render_policy(name: str, namespace: str, meddler: Meddler) -> list[dict[str, Any]]:
    rule = {
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["deployments"],
    }
    there = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    merged = {"expression": meddler.expression}
    policy = {
        "matchConstraints": {"resourceRules": [rule], "namespaceSelector": there},
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": merged}],
    }
    return [
        _thing("MutatingAdmissionPolicy", name, policy),
        _thing("MutatingAdmissionPolicyBinding", name, {"policyName": name}),
    ]


def _probe(namespace: str) -> str:
    """What would become of a Deployment there."""
    labels = {"probe": "probe"}
    pod = {"containers": [{"name": "function", "image": "probe"}]}
    spec = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    probe = _thing("Deployment", "probe", spec) | {"apiVersion": "apps/v1"}
    create = ["create", "--dry-run=server", "-o=json", "-f", "-"]
    return run("kubectl", f"-n={namespace}", *create, given=json.dumps(probe))


def _thing(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _list(*items: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}
