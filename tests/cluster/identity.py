"""A kubeconfig with the rights of one of our parts, which the chart gives its service account."""

import json
from pathlib import Path

import yaml

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.resources import Resource
from tests.cluster.chart import SYSTEM
from tests.cluster.spaces import MANAGER


async def write_kubeconfig(
    server: ApiServer, part: str, *, administrator: str, path: Path, port: int
) -> None:
    """Like the administrator's, but as `part`, and by way of a port of this machine."""
    tokens = Resource("v1", f"serviceaccounts/sless-{part}/token", "TokenRequest")
    wanted = {"apiVersion": "authentication.k8s.io/v1", "metadata": {}, "spec": {}}
    made = await server.create(tokens, SYSTEM, wanted, manager=MANAGER)
    known = yaml.safe_load(Path(administrator).read_text())
    cluster = known["clusters"][0]["cluster"]
    context = {"cluster": "cut", "user": part}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "cut", "cluster": {**cluster, "server": f"https://127.0.0.1:{port}"}}
        ],
        "users": [{"name": part, "user": {"token": made["status"]["token"]}}],
        "contexts": [{"name": "cut", "context": context}],
        "current-context": "cut",
    }
    path.write_text(json.dumps(content))
