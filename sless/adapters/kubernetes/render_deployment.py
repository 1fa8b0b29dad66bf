"""The Deployment and the Service of a function: pure.

A pod meets the `restricted` Pod Security Standard and holds no credential of the platform.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from sless.adapters.kubernetes.deployment_notes import NOTES, render_notes
from sless.adapters.kubernetes.job_options import Resources
from sless.adapters.kubernetes.resources import FUNCTIONS
from sless.archive.dockerfile import PORT
from sless.model.deployment import Deployment, Revision
from sless.naming import resource_name

CONTAINER = "function"
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
HANDLER = "SLESS_HANDLER"
COMMAND = "SLESS_COMMAND"

SERVICE_PORT = 80
_PRE_STOP_SECONDS = 3
"""Until every proxy knows that the pod leaves: without it 25 of 360 requests were lost."""
_SLACK_SECONDS = 2
"""For a process that has drained to end by itself."""
_USER = 65532
"""The image's own, said again so that the cluster can verify that it is not root."""


@dataclass(frozen=True, slots=True)
class DeploymentOptions:
    """What an operator settles about functions' pods: one value for an installation."""

    progress_seconds: int = 60
    """A new revision until it is ready; then it has failed."""
    drain_seconds: int = 10
    """For requests under way once nothing new arrives."""
    resources: Resources = field(default_factory=lambda: Resources("50m", "64Mi", "512Mi"))
    storage: str = "512Mi"
    """The most that /tmp, the one writable folder, may take."""
    pull_secret: str = ""
    """A Secret of type kubernetes.io/dockerconfigjson in each function's namespace, if needed."""


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
            _PRE_STOP_SECONDS + options.drain_seconds + _SLACK_SECONDS
        ),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_render_container(revision, options)],
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": options.storage}}],
    }
    if options.pull_secret:
        pod["imagePullSecrets"] = [{"name": options.pull_secret}]
    return pod


def _render_container(revision: Revision, options: DeploymentOptions) -> dict[str, Any]:
    return {
        "name": CONTAINER,
        "image": revision.image,
        "imagePullPolicy": "IfNotPresent",
        "env": _render_env(revision, options),
        "ports": [{"name": "http", "containerPort": PORT, "protocol": "TCP"}],
        **_render_probes(revision, options),
        "lifecycle": {"preStop": {"sleep": {"seconds": _PRE_STOP_SECONDS}}},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": _render_resources(options.resources),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108  # a volume of its own
    }


def _render_probes(revision: Revision, options: DeploymentOptions) -> dict[str, Any]:
    ready, alive = {"tcpSocket": {"port": PORT}}, {"tcpSocket": {"port": PORT}}
    # Without a handler it may be any server, by command or Procfile, which need not know our
    # paths; our own server listens no earlier than the function is loaded.
    if revision.handler is not None:
        ready, alive = _get("/_/ready"), _get("/_/health")
    return {
        "readinessProbe": {**ready, "periodSeconds": 1, "timeoutSeconds": 2, "failureThreshold": 3},
        # A slow import must end by the deadline, not by the kubelet; and a handler that keeps its
        # server busy for a while is no dead one.
        "livenessProbe": {
            **alive,
            "initialDelaySeconds": options.progress_seconds,
            "periodSeconds": 10,
            "timeoutSeconds": 5,
            "failureThreshold": 6,
        },
    }


def _get(path: str) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": PORT}}


def _render_env(revision: Revision, options: DeploymentOptions) -> list[dict[str, str]]:
    own = {
        "PORT": str(PORT),
        "SLESS_TERMINATION_LOG": "/dev/termination-log",
        "SLESS_DRAIN_SECONDS": str(options.drain_seconds),
    }
    if revision.handler is not None:
        own[HANDLER] = _literal(revision.handler)
    if revision.command:
        own[COMMAND] = _literal(json.dumps(revision.command, ensure_ascii=False))
    # Ours come first, so that a function's own may refer to $(PORT).
    named = [*own.items(), *((each.name, each.value) for each in revision.env)]
    return [{"name": name, "value": value} for name, value in named]


def _literal(value: str) -> str:
    """Kubernetes expands `$(NAME)`; `$$` is a dollar."""
    return value.replace("$", "$$")


def _render_resources(wanted: Resources) -> dict[str, Any]:
    limits = {"memory": wanted.memory_limit}
    if wanted.cpu_limit:
        limits["cpu"] = wanted.cpu_limit
    return {
        "requests": {"cpu": wanted.cpu_request, "memory": wanted.memory_request},
        "limits": limits,
    }
