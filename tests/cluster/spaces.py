"""Namespaces that belong to the tests, and to nobody else."""

from collections.abc import Iterable

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.resources import FUNCTIONS, NAMESPACES
from sless.errors import AlreadyExists

MANAGER = "sless-tests"
_MARK = "sless.io/test"


async def ensure_spaces(server: ApiServer, names: Iterable[str]) -> None:
    """Makes them, and empties those that earlier tests made; others' are not touched."""
    for name in names:
        body = {"metadata": {"name": name, "labels": {_MARK: "true"}}}
        try:
            await server.create(NAMESPACES, None, body, manager=MANAGER)
        except AlreadyExists:
            await _check_ours(server, name)
            await _empty(server, name)


async def _check_ours(server: ApiServer, name: str) -> None:
    found = await server.find(NAMESPACES, None, name)
    labels = found["metadata"].get("labels", {}) if found else {}
    assert labels.get(_MARK) == "true", (
        f"The cluster has a namespace {name!r} that is not the tests' own. If it may be emptied: "
        f"kubectl label namespace {name} {_MARK}=true"
    )


async def _empty(server: ApiServer, namespace: str) -> None:
    for item in (await server.list(FUNCTIONS, namespace)).items:
        await server.delete(FUNCTIONS, namespace, item["metadata"]["name"])
