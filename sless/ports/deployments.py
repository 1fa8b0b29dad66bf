"""Deployments: created once, written by compare-and-swap, judged by the home."""

from typing import Protocol

from sless.model.deployment import Deployment


class Deployments(Protocol):
    """Every method may raise `StoreUnavailable`."""

    async def find(self, namespace: str, name: str) -> Deployment | None:
        """A function's Deployment with its present availability, or none."""
        ...

    async def create(self, deployment: Deployment) -> Deployment:
        """Creates it for the Function of `deployment.ask.uid`.

        Raises `AlreadyExists`; `OwnerGone` when that Function is not there.
        """
        ...

    async def swap(self, deployment: Deployment) -> Deployment:
        """Writes ask, revision, good and failed over exactly the uid and version that were read.

        One that was read as not `exposed` is exposed again, whatever else the write changes.
        Raises `VersionConflict` when either differs or the Deployment is gone. `availability`
        is the home's own and is never written.
        """
        ...

    async def delete(self, deployment: Deployment) -> None:
        """Deletes the Deployment of that uid; another or none there is no error."""
        ...
