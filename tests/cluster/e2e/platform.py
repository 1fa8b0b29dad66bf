"""The whole platform on the cluster: its chart with all parts, and what they need there."""

import json
import os
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.chart import BUILDS, SYSTEM, Values, install, locked
from tests.cluster.e2e.parts import until_ready
from tests.cluster.node.images import BUILDER, NODE_BASE, PYTHON_BASE
from tests.cluster.node.place import (
    S3_PORT,
    TEMPORAL_PORT,
    TEMPORAL_UI_PORT,
    Place,
    read_place,
)
from tests.cluster.node.platform_image import ensure_platform_image
from tests.cluster.node.stores import ACCESS_KEY, SECRET_KEY
from tests.cluster.objects import (
    REGISTRY_SECRET,
    ensure_namespace,
    ensure_registry_secret,
    ensure_secret,
)

API_PORT, GATEWAY_PORT = 30081, 30080
CREDENTIALS_SECRET = "sless-credentials"


def install_platform(kubeconfig: str) -> Values:
    """Installs it and waits until all its parts are ready; the values it was installed with.

    On a cluster that is not ours PLATFORM_VALUES names a file of them.
    """
    given = os.environ.get("PLATFORM_VALUES")
    values: Values = yaml.safe_load(Path(given).read_text()) if given else _our_values(read_place())
    if not given:
        ensure_namespace(SYSTEM)
        ensure_namespace(BUILDS)
        keys = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
        ensure_secret(SYSTEM, CREDENTIALS_SECRET, "Opaque", keys)
        for namespace in (SYSTEM, BUILDS):
            ensure_registry_secret(namespace)
    install(kubeconfig, values)
    until_ready()
    return values


def _our_values(place: Place) -> Values:
    one: dict[str, Any] = {"replicas": 1}
    return {
        "image": os.environ.get("PLATFORM_IMAGE") or _ensure_image(place),
        "credentialsSecret": CREDENTIALS_SECRET,
        "registrySecret": REGISTRY_SECRET,
        "settings": _settings(place),
        "tokens": {
            "serviceAccounts": {"enabled": True, "issuer": "https://kubernetes.default.svc"}
        },
        "api": one | {"service": _service(API_PORT)},
        "worker": one,
        "gateway": one | {"service": _service(GATEWAY_PORT), "drainSeconds": 5},
    }


def _ensure_image(place: Place) -> str:
    with locked():
        return ensure_platform_image(place)


def _service(port: int) -> dict[str, Any]:
    named = {"name": "http", "port": 80, "targetPort": "http", "nodePort": port}
    return {"type": "NodePort", "ports": [named]}


def _settings(place: Place) -> dict[str, str]:
    tools = os.environ.get("TOOLS_IMAGE") or f"{place.bases}/{BUILDER}"
    bases = {
        "python3.11": f"{place.bases}/{PYTHON_BASE}",
        "node20": f"{place.bases}/{NODE_BASE}",
    }
    return {
        "SLESS_API__URL": f"http://{place.ip}:{API_PORT}",
        "SLESS_GATEWAY__URL": f"http://{place.ip}:{GATEWAY_PORT}",
        "SLESS_STORAGE__ENDPOINT": f"http://{place.ip}:{S3_PORT}",
        "TEMPORAL_ADDRESS": f"{place.ip}:{TEMPORAL_PORT}",
        "SLESS_TEMPORAL__UI_URL": f"http://{place.ip}:{TEMPORAL_UI_PORT}",
        "SLESS_REGISTRY__PUSH": place.registry,
        "SLESS_REGISTRY__PLAIN_HTTP": json.dumps([place.registry, place.bases]),
        "SLESS_RUNTIMES__OFFERED": json.dumps(list(bases)),
        "SLESS_RUNTIMES__BASE_IMAGES": json.dumps(bases),
        "SLESS_BUILDER__FETCH_IMAGE": tools,
        "SLESS_BUILDER__BUILD_IMAGE": os.environ.get("BUILDER_IMAGE") or tools,
        "SLESS_BUILDER__PUSH_IMAGE": tools,
        "SLESS_BUILDER__PUSH_SECRET": REGISTRY_SECRET,
        "SLESS_BUILDER__PULL_SECRET": REGISTRY_SECRET,
        "SLESS_PODS__PULL_SECRET": REGISTRY_SECRET,
        # Pods of two processors that everything shares start slowly.
        "SLESS_BUILDER__CPU_REQUEST": "100m",
        "SLESS_PODS__CPU_REQUEST": "20m",
    }
