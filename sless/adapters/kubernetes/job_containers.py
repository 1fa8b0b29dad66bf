"""The containers of an attempt's pod, in their order: pure.

User code runs in `build`, so that container holds no credential: the presigned URL is known to
`fetch` alone, the registry's password to `push` alone.
"""

from pathlib import Path
from typing import Any

from sless.adapters.kubernetes.build_environment import outside, proxies, render_environment
from sless.adapters.kubernetes.container_parts import render_env, render_resources
from sless.adapters.kubernetes.job_options import SMALL, JobOptions
from sless.adapters.kubernetes.render_build import (
    BASE,
    CERTIFICATES,
    CONTEXT,
    CONTROL,
    LAYOUT,
    render_build,
    render_mirror,
)
from sless.model.attempt import Attempt
from sless.model.function import FunctionRef
from sless.naming import attempt_tag

_PROGRAM = (Path(__file__).parent / "fetch_context.py").read_text(encoding="utf-8")


def render_fetch(attempt: Attempt, options: JobOptions, context_url: str) -> dict[str, Any]:
    """Fetches the context and unpacks it."""
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
        "env": render_env(told | proxies(options)),
        "resources": render_resources(SMALL),
        "securityContext": _locked(),
        "volumeMounts": [
            {"name": "workspace", "mountPath": "/workspace"},
            {"name": "control", "mountPath": CONTROL},
            *_ca_mount(options),
        ],
    }


def render_bases(attempt: Attempt, options: JobOptions) -> list[dict[str, Any]]:
    """What a base image that needs a password takes; nothing for any other."""
    if not options.base_secret:
        return []
    mirror = render_mirror(options)
    if mirror is None:
        return [_base(attempt, options)]
    bounds = {"resources": render_resources(SMALL), "securityContext": _locked()}
    return [_base(attempt, options), mirror | bounds]


def render_builder(attempt: Attempt, options: JobOptions) -> dict[str, Any]:
    """Makes the image."""
    base = options.base_images[attempt.runtime] if options.base_secret else ""
    particular = render_build(options, base=base)
    return {
        "name": "build",
        "image": options.images.build,
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": render_resources(options.build),
        **particular,
        "env": [*particular.get("env", []), *render_env(outside(options))],
        "volumeMounts": [
            {"name": "workspace", "mountPath": "/workspace"},
            {"name": "out", "mountPath": "/out"},
            {"name": "control", "mountPath": CONTROL, "readOnly": True},
            *particular["volumeMounts"],
            *_ca_mount(options),
        ],
    }


def render_push(attempt: Attempt, options: JobOptions) -> dict[str, Any]:
    """Brings it to the registry, and tells the digest that the registry took."""
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
        "env": render_env(outside(options)),
        "resources": render_resources(SMALL),
        "securityContext": _locked(),
        "volumeMounts": [
            {"name": "out", "mountPath": "/out", "readOnly": True},
            *(auth if options.push_secret else []),
            *_ca_mount(options),
        ],
    }


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
        "env": render_env(outside(options)),
        "resources": render_resources(SMALL),
        "securityContext": _locked(),
        "volumeMounts": [
            {"name": "base", "mountPath": "/base"},
            {"name": "base-auth", "mountPath": "/auth", "readOnly": True},
            *_ca_mount(options),
        ],
    }


def _ca_mount(options: JobOptions) -> list[dict[str, Any]]:
    mount = {"name": "ca", "mountPath": CERTIFICATES, "readOnly": True}
    return [mount] if options.ca_config_map else []


def _locked() -> dict[str, Any]:
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
