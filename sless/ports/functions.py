"""The store of Functions: desired state, its versions, and the status beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from sless.model.function import Function

Manifest = dict[str, Any]
"""A Function as `kubectl get -o json` shows it: apiVersion, kind, metadata, spec, status."""


@dataclass(frozen=True, slots=True)
class StoredFunction:
    """A Function together with what only people and the watcher look at."""

    function: Function
    manifest: Manifest = field(hash=False)
    """Whole, with status, labels, creationTimestamp and managedFields."""


@dataclass(frozen=True, slots=True)
class FunctionPage:
    """A page of Functions: a namespace's in order of name, namespaces in the store's own order."""

    items: tuple[StoredFunction, ...]
    next: str = ""
    """Token for the next page; empty at the end."""


class Functions(Protocol):
    """Every method may raise `StoreUnavailable`."""

    async def find(self, namespace: str, name: str) -> StoredFunction | None:
        """A Function, or none."""
        ...

    async def list(
        self, namespace: str | None = None, *, token: str = "", limit: int = 100
    ) -> FunctionPage:
        """Functions of a namespace, or of all."""
        ...

    async def create(
        self, namespace: str, name: str, *, spec: Mapping[str, Any], manager: str
    ) -> StoredFunction:
        """A new Function of generation 1; raises `AlreadyExists`, `InvalidSetting`."""
        ...

    async def patch(  # noqa: PLR0913  # a patch has this many sides, all named
        self,
        namespace: str,
        name: str,
        *,
        spec: Mapping[str, Any] | None = None,
        annotations: Mapping[str, str | None] | None = None,
        manager: str,
        resource_version: str | None = None,
    ) -> StoredFunction:
        """A JSON merge patch (None removes), one write.

        The generation rises exactly when the spec changes. Raises `FunctionNotFound`,
        `VersionConflict` when `resource_version` is stale, `ManagedElsewhere` when a field
        changes that another manager applies, `InvalidSetting`, `InvalidKey`.
        """
        ...

    async def delete(self, namespace: str, name: str, *, uid: str | None = None) -> None:
        """Deletes it and, by ownership, its Deployment; raises `FunctionNotFound`."""
        ...

    async def write_status(
        self, namespace: str, name: str, *, uid: str, status: Mapping[str, Any]
    ) -> None:
        """Replaces the status, the generation untouched. A Function gone is no error."""
        ...
