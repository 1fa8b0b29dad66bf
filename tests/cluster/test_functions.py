"""The contract of Functions, on the API server."""

from collections.abc import Mapping

import pytest

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.connection import Connection, read_configuration
from sless.adapters.kubernetes.functions import KubernetesFunctions
from sless.adapters.kubernetes.resources import FUNCTIONS
from sless.errors import InvalidSetting, NamespaceNotFound, OwnerGone, StoreUnavailable
from sless.ports import Functions
from sless.ports.functions import StoredFunction
from tests.cluster.spaces import ensure_spaces
from tests.contract.test_functions import *  # noqa: F403  # the contract's tests are the point
from tests.contract.test_functions import API, Apply, spec
from tests.fixtures.ports import free_port


@pytest.fixture  # type: ignore[no-redef]  # in place of the contract's own
async def functions(server: ApiServer) -> Functions:
    await ensure_spaces(server, ("team", "a", "a-b", "b"))
    return KubernetesFunctions(server)


@pytest.fixture  # type: ignore[no-redef]  # likewise
def apply(server: ApiServer, functions: Functions) -> Apply:
    async def apply(
        *,
        spec: Mapping[str, object],
        annotations: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
        manager: str,
        force: bool = False,
    ) -> StoredFunction:
        # An empty mapping that is applied is a write each time.
        given = {"annotations": annotations, "labels": labels}
        metadata = {"name": "hello", **{key: value for key, value in given.items() if value}}
        body = {"metadata": metadata, "spec": spec}
        await server.apply(FUNCTIONS, "team", body, manager=manager, force=force)
        found = await functions.find("team", "hello")
        assert found is not None
        return found

    return apply


async def test_a_namespace_that_is_not_there_is_named(functions: Functions) -> None:
    key = f"functions/nowhere/hello/{'a' * 64}-python3.11.zip"
    with pytest.raises(NamespaceNotFound, match="no namespace nowhere"):
        await functions.create("nowhere", "hello", spec=spec(s3Key=key), manager=API)


async def test_a_server_that_is_away_is_a_bad_minute(kubeconfig: str) -> None:
    configuration = await read_configuration(kubeconfig)
    configuration.host = f"https://127.0.0.1:{free_port()}"
    server = ApiServer(Connection(configuration))
    with pytest.raises(StoreUnavailable, match="does not answer"):
        await KubernetesFunctions(server).find("team", "hello")
    await server.close()


async def test_a_status_that_cannot_be_is_refused(functions: Functions) -> None:
    made = await functions.create("team", "hello", spec=spec(), manager=API)
    with pytest.raises(InvalidSetting, match=r"status\.observedGeneration"):
        await functions.write_status(
            "team", "hello", uid=made.function.uid, status={"observedGeneration": "one"}
        )


async def test_what_is_being_deleted_takes_no_ask(server: ApiServer, functions: Functions) -> None:
    made = await functions.create("team", "hello", spec=spec(), manager=API)
    held: dict[str, object] = {"metadata": {"finalizers": ["example.com/held"]}}
    await server.patch(FUNCTIONS, "team", "hello", held, manager=API)
    try:
        await functions.delete("team", "hello")
        found = await functions.find("team", "hello")
        assert found is not None
        assert found.function.generation > made.function.generation, "the cluster's doing"
        assert await KubernetesFunctions(server, leaving=False).find("team", "hello") is None
        with pytest.raises(OwnerGone, match=r"being deleted.*example\.com/held"):
            await functions.patch("team", "hello", spec={"handler": "main:app"}, manager=API)
    finally:
        await server.patch(
            FUNCTIONS, "team", "hello", {"metadata": {"finalizers": None}}, manager=API
        )
    assert await functions.find("team", "hello") is None
