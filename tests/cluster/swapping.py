"""A revision written as a rollout writes it: anew where the cluster wrote a status meanwhile."""

from dataclasses import replace

from sless.errors import VersionConflict
from sless.model.deployment import Revision
from sless.ports import Deployments
from tests.fixtures.waiting import until


async def swap_revision(deployments: Deployments, namespace: str, wanted: Revision) -> None:
    """Of the function `hello` there."""

    async def is_swapped() -> bool:
        found = await deployments.find(namespace, "hello")
        assert found is not None
        try:
            await deployments.swap(replace(found, revision=wanted))
        except VersionConflict:
            return False
        return True

    await until(is_swapped)
