"""Namespaces and Secrets that tests apply as people do."""

import base64
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.cluster.chart import run
from tests.cluster.node.place import read_place
from tests.cluster.node.stores import credentials

REGISTRY_SECRET = "registry"


def apply(thing: Mapping[str, Any]) -> None:
    """Makes it, or makes it so."""
    run("kubectl", "apply", "--server-side", "-f", "-", given=json.dumps(thing))


def ensure_namespace(name: str) -> None:
    """Makes it unless it is there; its usual account comes a moment after it."""
    apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    run("kubectl", f"-n={name}", "wait", "serviceaccount/default", "--for=create", "--timeout=60s")


def ensure_registry_secret(namespace: str) -> None:
    """What pulls, and in a namespace of builds pushes."""
    kind = "kubernetes.io/dockerconfigjson"
    auths = {".dockerconfigjson": registry_credentials().read_text()}
    ensure_secret(namespace, REGISTRY_SECRET, kind, auths)


def registry_credentials() -> Path:
    """The file that REGISTRY_AUTH_FILE names, or that of the tests' own registry."""
    return Path(os.environ.get("REGISTRY_AUTH_FILE") or credentials(read_place()))


def ensure_secret(namespace: str, name: str, kind: str, values: Mapping[str, str]) -> None:
    """Makes it of plain values."""
    data = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
    metadata = {"name": name, "namespace": namespace}
    apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": kind, "data": data})
