"""The Job of one attempt: pure, the same for every builder but for one container.

User code runs in `build`, so that container holds no credential: the presigned URL is known to
`fetch` alone, the registry's password to `push` alone, and no service account's token is mounted.
"""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sless.adapters.kubernetes.job_options import SMALL, JobOptions, Resources
from sless.adapters.kubernetes.render_build import (
    BASE,
    CERTIFICATES,
    CONTEXT,
    CONTROL,
    LAYOUT,
    extra_volumes,
    render_build,
    render_mirror,
)
from sless.model.attempt import Attempt
from sless.model.function import FunctionRef
from sless.naming import attempt_tag, job_name

PREFIX = "sless.io"
_PROGRAM = (Path(__file__).parent / "fetch_context.py").read_text(encoding="utf-8")
_GRACE_SECONDS = 3
"""For a pod that is deleted: nothing in it has anything to save."""
_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"})
_PLAIN = {"NO_COLOR": "1", "PIP_PROGRESS_BAR": "off", "UV_NO_PROGRESS": "1"}
"""So that installers write a log and not a terminal."""
_CERTIFICATE_FOLDERS = f"/kaniko/ssl/certs:/etc/ssl/certs:{CERTIFICATES}"
"""Where programs in Go look; a folder that is not there is no error."""
_CERTIFICATE_VARIABLES = (
    *("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    "npm_config_cafile",
)


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


def render_environment(options: JobOptions) -> str:
    """What an install reads while the image is built: a shell's exports."""
    variables = {**_PLAIN, **options.environment}
    if options.ca_config_map:
        variables |= dict.fromkeys(_CERTIFICATE_VARIABLES, f"{CERTIFICATES}/ca.crt")
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())


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
            _fetch(attempt, options, context_url),
            *_bases(attempt, options),
            _build(attempt, options),
        ],
        "containers": [_push(attempt, options)],
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


def _fetch(attempt: Attempt, options: JobOptions, context_url: str) -> dict[str, Any]:
    told = {
        "URL": context_url,
        "SHA256": attempt.context_sha256,
        "FOLDER": CONTEXT,
        "SETTINGS": render_environment(options),
        "SETTINGS_FILE": f"{CONTROL}/environment",
        "USER_NAMESPACE": "required" if options.user_namespaces else "",
        **({"CA_FILE": f"{CERTIFICATES}/ca.crt"} if options.ca_config_map else {}),
    }
    return {
        "name": "fetch",
        "image": options.images.fetch,
        "command": ["python3", "-I", "-c", _PROGRAM],
        "env": _render_env(told | _proxies(options)),
        "resources": _render_resources(SMALL),
        "securityContext": _locked(),
        "volumeMounts": [
            {"name": "workspace", "mountPath": "/workspace"},
            {"name": "control", "mountPath": CONTROL},
            *_ca_mount(options),
        ],
    }


def _bases(attempt: Attempt, options: JobOptions) -> list[dict[str, Any]]:
    if not options.base_secret:
        return []
    mirror = render_mirror(options)
    if mirror is None:
        return [_base(attempt, options)]
    bounds = {"resources": _render_resources(SMALL), "securityContext": _locked()}
    return [_base(attempt, options), mirror | bounds]


def _base(attempt: Attempt, options: JobOptions) -> dict[str, Any]:
    """Fetches the base image with its own password, so that what builds needs none."""
    image = options.base_images[attempt.runtime]
    plain = any(image.startswith(f"{address}/") for address in options.place.plain_http)
    return {
        "name": "base",
        "image": options.images.push,
        "command": [
            *("skopeo", "--insecure-policy", "copy", "--quiet", "--retry-times=5"),
            "--src-authfile=/auth/config.json",
            *(["--src-tls-verify=false"] if plain else []),
            f"docker://{image}",
            f"oci:{BASE}",
        ],
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "env": _render_env(_outside(options)),
        "resources": _render_resources(SMALL),
        "securityContext": _locked(),
        "volumeMounts": [
            {"name": "base", "mountPath": "/base"},
            {"name": "base-auth", "mountPath": "/auth", "readOnly": True},
            *_ca_mount(options),
        ],
    }


def _build(attempt: Attempt, options: JobOptions) -> dict[str, Any]:
    base = options.base_images[attempt.runtime] if options.base_secret else ""
    particular = render_build(options, base=base)
    return {
        "name": "build",
        "image": options.images.build,
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": _render_resources(options.build),
        **particular,
        "env": [*particular.get("env", []), *_render_env(_outside(options))],
        "volumeMounts": [
            {"name": "workspace", "mountPath": "/workspace"},
            {"name": "out", "mountPath": "/out"},
            {"name": "control", "mountPath": CONTROL, "readOnly": True},
            *particular["volumeMounts"],
            *_ca_mount(options),
        ],
    }


def _push(attempt: Attempt, options: JobOptions) -> dict[str, Any]:
    place, function = options.place, FunctionRef(attempt.namespace, attempt.name)
    destination = place.destination(function, attempt_tag(attempt.build, attempt.nonce))
    auth = [{"name": "auth", "mountPath": "/auth", "readOnly": True}]
    return {
        "name": "push",
        "image": options.images.push,
        "command": [
            *("skopeo", "--insecure-policy", "copy", "--quiet", "--retry-times=5"),
            # A layout may hold anything: the digest is of what the registry took.
            "--digestfile=/dev/termination-log",
            *(["--authfile=/auth/config.json"] if options.push_secret else ["--dest-no-creds"]),
            *(["--dest-tls-verify=false"] if place.is_plain(place.push) else []),
            f"oci:{LAYOUT}",
            f"docker://{destination}",
        ],
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "env": _render_env(_outside(options)),
        "resources": _render_resources(SMALL),
        "securityContext": _locked(),
        "volumeMounts": [
            {"name": "out", "mountPath": "/out", "readOnly": True},
            *(auth if options.push_secret else []),
            *_ca_mount(options),
        ],
    }


def _outside(options: JobOptions) -> dict[str, str]:
    """How programs in Go reach registries: proxies, and whom they trust."""
    folders = {"SSL_CERT_DIR": _CERTIFICATE_FOLDERS} if options.ca_config_map else {}
    return _proxies(options) | folders


def _proxies(options: JobOptions) -> dict[str, str]:
    return {name: value for name, value in options.environment.items() if name.upper() in _PROXIES}


def _ca_mount(options: JobOptions) -> list[dict[str, Any]]:
    mount = {"name": "ca", "mountPath": CERTIFICATES, "readOnly": True}
    return [mount] if options.ca_config_map else []


def _render_env(variables: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": _literal(value)} for name, value in variables.items()]


def _literal(value: str) -> str:
    """Kubernetes expands `$(NAME)`; `$$` is a dollar."""
    return value.replace("$", "$$")


def _render_resources(wanted: Resources) -> dict[str, Any]:
    limits = {"memory": wanted.memory_limit}
    if wanted.cpu_limit:
        limits["cpu"] = wanted.cpu_limit
    requests = {"cpu": wanted.cpu_request, "memory": wanted.memory_request}
    return {"requests": requests, "limits": limits}


def _locked() -> dict[str, Any]:
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
