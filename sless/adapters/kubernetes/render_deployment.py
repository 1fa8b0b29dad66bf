"""The Deployment and the Service of a function: pure.

A pod meets the `restricted` Pod Security Standard and holds no credential of the platform.
"""

from typing import Any

from sless.adapters.kubernetes.deployment_notes import NOTES, render_notes
from sless.adapters.kubernetes.deployment_options import DeploymentOptions
from sless.adapters.kubernetes.function_container import PRE_STOP_SECONDS, render_container
from sless.adapters.kubernetes.resources import FUNCTIONS
from sless.archive.dockerfile import PORT
from sless.model.deployment import Deployment, Revision
from sless.naming import resource_name

FUNCTION_LABEL = "sless.io/function"
"""Selects a function's pods; a selector never changes, so nothing else belongs into it."""
BUILD_LABEL = "sless.io/build"
RUNTIME_LABEL = "sless.io/runtime"
INSTANCE_LABEL = "sless.io/instance"
"""On the pods: which revision one runs, for whoever sees the pod alone."""
UID_LABEL = "sless.io/uid"
"""The Function's, on the Service: the cluster copies its labels to the EndpointSlices."""
RETRY_ANNOTATION = "sless.io/retry"
"""On the pods: makes a revision that failed another one, which starts anew."""

SERVICE_PORT = 80
_SLACK_SECONDS = 2
"""For a process that has drained to end by itself."""
_USER = 65532
"""The image's own, said again so that the cluster can verify that it is not root."""


def render_deployment(deployment: Deployment, options: DeploymentOptions) -> dict[str, Any]:
    """The object as it is created, without apiVersion and kind.

    `replicas` is left out: 1 at first, and then whatever people or an autoscaler make of it.
    """
    return {
        "metadata": _render_metadata(deployment) | {"annotations": render_notes(deployment)},
        "spec": {
            "selector": {"matchLabels": {FUNCTION_LABEL: deployment.name}},
            "progressDeadlineSeconds": options.progress_seconds,
            "revisionHistoryLimit": 2,
            # What served goes on serving until the new pod is ready.
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1},
            },
            "template": _render_template(deployment, options),
        },
    }


def render_change(deployment: Deployment, options: DeploymentOptions) -> dict[str, Any]:
    """The merge patch that makes of `deployment.resource_version` what was rendered.

    It removes what is rendered no more, and what was added by hand to a list or to our notes.
    """
    whole = render_deployment(deployment, options)
    del whole["spec"]["selector"]
    # Paused by a hand, it would never come to run what is written here.
    whole["spec"]["paused"] = None
    absent_notes: dict[str, str | None] = dict.fromkeys(NOTES)
    whole["metadata"] = {
        "resourceVersion": deployment.resource_version,
        "labels": whole["metadata"]["labels"],
        "annotations": absent_notes | whole["metadata"]["annotations"],
    }
    marks = whole["spec"]["template"]["metadata"]
    marks["annotations"] = {RETRY_ANNOTATION: None} | marks["annotations"]
    return whole


def render_service(deployment: Deployment) -> dict[str, Any]:
    """The Service, by which the gateway finds the ready pods."""
    metadata = _render_metadata(deployment)
    metadata["labels"][UID_LABEL] = deployment.ask.uid
    return {
        "metadata": metadata,
        "spec": {
            "selector": {FUNCTION_LABEL: deployment.name},
            "ports": [
                {"name": "http", "port": SERVICE_PORT, "targetPort": PORT, "protocol": "TCP"}
            ],
        },
    }


def _render_metadata(deployment: Deployment) -> dict[str, Any]:
    owner = {
        "apiVersion": FUNCTIONS.api_version,
        "kind": FUNCTIONS.kind,
        "name": deployment.name,
        "uid": deployment.ask.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {
        "name": resource_name(deployment.name),
        "namespace": deployment.namespace,
        "labels": _render_labels(deployment),
        "ownerReferences": [owner],
    }


def _render_labels(deployment: Deployment) -> dict[str, str]:
    return {"app.kubernetes.io/managed-by": "sless", FUNCTION_LABEL: deployment.name}


def _render_template(deployment: Deployment, options: DeploymentOptions) -> dict[str, Any]:
    revision = deployment.revision
    marks = {
        BUILD_LABEL: revision.build,
        RUNTIME_LABEL: revision.runtime,
        INSTANCE_LABEL: revision.instance,
    }
    retry = {RETRY_ANNOTATION: str(revision.retry)} if revision.retry else {}
    return {
        "metadata": {"labels": _render_labels(deployment) | marks, "annotations": retry},
        "spec": _render_pod(revision, options),
    }


def _render_pod(revision: Revision, options: DeploymentOptions) -> dict[str, Any]:
    pod: dict[str, Any] = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": (
            PRE_STOP_SECONDS + options.drain_seconds + _SLACK_SECONDS
        ),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [render_container(revision, options)],
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": options.storage}}],
    }
    if options.pull_secret:
        pod["imagePullSecrets"] = [{"name": options.pull_secret}]
    return pod
