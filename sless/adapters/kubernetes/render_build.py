"""The container that builds: what differs between builders, and nothing else; pure."""

import json
import shlex
from pathlib import Path
from typing import Any

from sless.adapters.kubernetes.job_options import BuilderKind, JobOptions

CONTEXT = "/workspace/context"
BASE = "/base/img"
"""Where a base image that needs a password is put, as an OCI layout."""
LAYOUT = "/out/img"
"""Whatever builds leaves an OCI image layout here."""
CONTROL = "/sless/build"
"""What a build is told; `sless.archive.dockerfile.BUILD_ENVIRONMENT` lies in it."""
CERTIFICATES = "/sless/ca"
"""Where the ConfigMap with `ca.crt` is mounted."""
_STORE = "/store"
_MIRROR_PORT = 5999
"""On the pod's loopback, where nothing else listens before user code runs."""
_SERVE_LAYOUT = (Path(__file__).parent / "serve_layout.py").read_text(encoding="utf-8")

_KANIKO_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "SETUID", "SETGID", "FSETID")
_BUILDAH_CAPABILITIES = (
    *("SYS_ADMIN", "SYS_CHROOT", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETUID", "SETGID"),
    *("SETFCAP", "SETPCAP", "KILL", "NET_BIND_SERVICE", "MKNOD"),
)
"""SYS_ADMIN inside the pod's own user namespace. With fewer: "setting capabilities: operation not
permitted"."""
_RUN_CAPABILITIES = f"[containers]\ndefault_capabilities = {json.dumps(_KANIKO_CAPABILITIES)}\n"
"""What a `RUN` has: no SYS_ADMIN, nothing that its container lacks. Packages differ in theirs."""


def render_build(options: JobOptions, *, base: str = "") -> dict[str, Any]:
    """The parts of the container that depend on the builder: command, volumes, capabilities.

    `base` is the name of the image that lies in `BASE` already, if one does.
    """
    if options.kind is BuilderKind.KANIKO:
        return _kaniko(options, base)
    return _buildah(options, base)


def extra_volumes(options: JobOptions) -> list[dict[str, Any]]:
    """Those that only this builder mounts."""
    if options.kind is BuilderKind.KANIKO:
        return []
    return [{"name": "store", "emptyDir": {"sizeLimit": options.storage}}]


def render_mirror(options: JobOptions) -> dict[str, Any] | None:
    """What serves the base image to a builder that takes none from a folder; else nothing.

    A sidecar: it is ready before the builder starts, and ends when the pod does.
    """
    if options.kind is not BuilderKind.KANIKO:
        return None
    probe = f"import socket; socket.create_connection(('127.0.0.1', {_MIRROR_PORT}), 1)"
    return {
        "name": "mirror",
        "image": options.images.fetch,
        "restartPolicy": "Always",
        "command": ["python3", "-I", "-c", _SERVE_LAYOUT, BASE, str(_MIRROR_PORT)],
        "startupProbe": {
            "exec": {"command": ["python3", "-I", "-c", probe]},
            "periodSeconds": 1,
            "timeoutSeconds": 5,
            "failureThreshold": 60,
        },
        "env": [],
        "volumeMounts": [{"name": "base", "mountPath": "/base", "readOnly": True}],
    }


def _kaniko(options: JobOptions, base: str) -> dict[str, Any]:
    plain = sorted(options.place.plain_http)
    mirror = f"127.0.0.1:{_MIRROR_PORT}"
    if base:
        plain.append(mirror)
    return {
        "args": [
            f"--context=dir://{CONTEXT}",
            "--no-push",
            f"--oci-layout-path={LAYOUT}",
            "--log-format=text",
            "--log-timestamp=false",
            "--image-download-retry=3",
            *(f"--insecure-registry={address}" for address in plain),
            *([f"--registry-map={_registry_of(base)}={mirror}"] if base else []),
            *(["--skip-default-registry-fallback"] if base else []),
        ],
        "securityContext": _confined(_KANIKO_CAPABILITIES),
        "volumeMounts": [],
    }


def _buildah(options: JobOptions, base: str) -> dict[str, Any]:
    policy = json.dumps({"default": [{"type": "insecureAcceptAnything"}]})
    buildah = f"buildah --storage-driver $driver --root {_STORE}/$driver --runroot {_STORE}/run"
    trusting = f"--signature-policy {_STORE}/policy.json"
    mounts = [CONTROL, *([CERTIFICATES] if options.ca_config_map else [])]
    volumes = " ".join(f"--volume {path}:{path}:ro" for path in mounts)
    pull = "--pull=never" if base else "--pull=true"
    # Written here, not mounted: some distributions' packages come without these files.
    script = "\n".join(
        [
            f"printf %s {shlex.quote(policy)} > {_STORE}/policy.json",
            f"printf %s {shlex.quote(_registries(options))} > {_STORE}/registries.conf",
            f"printf %s {shlex.quote(_RUN_CAPABILITIES)} > {_STORE}/containers.conf",
            # vfs copies the whole image for each step; nodes whose own disk is an overlay need it.
            "driver=overlay",
            f"{buildah} info >/dev/null 2>&1 || driver=vfs",
            *(_take_base(f"{buildah} pull --quiet {trusting}", buildah, base) if base else ()),
            f"{buildah} bud --isolation chroot {trusting} {volumes} {pull} --tag img {CONTEXT}",
            f"{buildah} push --quiet {trusting} img oci:{LAYOUT}:latest",
        ]
    )
    return {
        # Kubernetes would take `$(…)` for one of its variables.
        "command": ["sh", "-euc", script.replace("$", "$$")],
        "env": [
            {"name": "CONTAINERS_REGISTRIES_CONF", "value": f"{_STORE}/registries.conf"},
            {"name": "CONTAINERS_CONF", "value": f"{_STORE}/containers.conf"},
            {"name": "TMPDIR", "value": _STORE},
        ],
        "securityContext": _confined(_BUILDAH_CAPABILITIES),
        "volumeMounts": [
            {"name": "store", "mountPath": _STORE},
            *([{"name": "base", "mountPath": "/base", "readOnly": True}] if base else []),
        ],
    }


def _registry_of(image: str) -> str:
    """As Kaniko names it: an image without a host is Docker Hub's."""
    first, slash, _ = image.partition("/")
    hosted = slash and (first == "localhost" or "." in first or ":" in first)
    return first if hosted and first != "docker.io" else "index.docker.io"


def _take_base(pull: str, buildah: str, base: str) -> tuple[str, ...]:
    return (f"id=$({pull} oci:{BASE})", f'{buildah} tag "$id" {shlex.quote(base)}')


def _registries(options: JobOptions) -> str:
    """Short names mean what they mean to Kaniko; some registries speak plain HTTP."""
    lines = ['unqualified-search-registries = ["docker.io"]']
    for address in sorted(options.place.plain_http):
        lines += ["[[registry]]", f"location = {json.dumps(address)}", "insecure = true"]
    return "\n".join(lines) + "\n"


def _confined(capabilities: tuple[str, ...]) -> dict[str, Any]:
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"], "add": list(capabilities)},
    }
