"""The Job of one attempt: pure, the same for every builder but for one container.

No service account's token is mounted, since user code runs in it.
"""

from typing import Any

from sless.adapters.kubernetes.job_containers import (
    render_bases,
    render_builder,
    render_fetch,
    render_push,
)
from sless.adapters.kubernetes.job_options import JobOptions
from sless.adapters.kubernetes.render_build import extra_volumes
from sless.model.attempt import Attempt
from sless.naming import job_name

PREFIX = "sless.io"
_GRACE_SECONDS = 3
"""For a pod that is deleted: nothing in it has anything to save."""


def labels_of(attempt: Attempt) -> dict[str, str]:
    """By which an attempt's Job and pod are known as its own."""
    return {
        "app.kubernetes.io/managed-by": "sless",
        f"{PREFIX}/namespace": attempt.namespace,
        f"{PREFIX}/name": attempt.name,
        f"{PREFIX}/uid": attempt.uid,
        f"{PREFIX}/build": attempt.build,
        f"{PREFIX}/nonce": attempt.nonce,
    }


def render_job(attempt: Attempt, options: JobOptions, *, context_url: str) -> dict[str, Any]:
    """The Job, without apiVersion and kind."""
    return {
        "metadata": {
            "name": job_name(attempt.name, attempt.build, attempt.nonce),
            "namespace": options.namespace,
            "labels": labels_of(attempt),
        },
        "spec": {
            "backoffLimit": 0,
            # The pod's own deadline counts from its start; this one ends a Job that never had one.
            "activeDeadlineSeconds": attempt.deadline_seconds + options.slack_seconds,
            "ttlSecondsAfterFinished": options.keep_seconds,
            "template": {
                "metadata": {"labels": labels_of(attempt)},
                "spec": _render_pod(attempt, options, context_url),
            },
        },
    }


def _render_pod(attempt: Attempt, options: JobOptions, context_url: str) -> dict[str, Any]:
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "activeDeadlineSeconds": attempt.deadline_seconds,
        "terminationGracePeriodSeconds": _GRACE_SECONDS,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "volumes": _render_volumes(options),
        "initContainers": [
            render_fetch(attempt, options, context_url),
            *render_bases(attempt, options),
            render_builder(attempt, options),
        ],
        "containers": [render_push(attempt, options)],
    }
    if options.user_namespaces:
        pod["hostUsers"] = False
    if options.pull_secret:
        pod["imagePullSecrets"] = [{"name": options.pull_secret}]
    return pod


def _render_volumes(options: JobOptions) -> list[dict[str, Any]]:
    volumes: list[dict[str, Any]] = [
        {"name": "workspace", "emptyDir": {"sizeLimit": options.storage}},
        {"name": "out", "emptyDir": {"sizeLimit": options.storage}},
        {"name": "control", "emptyDir": {"sizeLimit": "1Mi"}},
        *extra_volumes(options),
    ]
    if options.push_secret:
        volumes.append(_auth_volume("auth", options.push_secret))
    if options.base_secret:
        volumes.append(_auth_volume("base-auth", options.base_secret))
        volumes.append({"name": "base", "emptyDir": {"sizeLimit": options.storage}})
    if options.ca_config_map:
        volumes.append({"name": "ca", "configMap": {"name": options.ca_config_map}})
    return volumes


def _auth_volume(name: str, secret: str) -> dict[str, Any]:
    items = [{"key": ".dockerconfigjson", "path": "config.json"}]
    return {"name": name, "secret": {"secretName": secret, "items": items}}
