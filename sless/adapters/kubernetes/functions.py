"""Functions as custom resources of an API server."""

import asyncio
from collections.abc import Mapping
from typing import Any

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.connection import Object
from sless.adapters.kubernetes.resources import FUNCTIONS
from sless.errors import (
    AlreadyExists,
    FunctionNotFound,
    InternalError,
    InvalidName,
    InvalidSetting,
    OwnerGone,
    StoreUnavailable,
    VersionConflict,
)
from sless.manifests import check_annotations, check_spec, merge_patch, parse_function
from sless.manifests.ownership import changed_fields, check_not_applied, parse_owners
from sless.naming import check_name, check_namespace
from sless.ports.functions import FunctionPage, Manifest, StoredFunction

PAGE_MAX = 500
"""Functions in one page, whatever is asked for: a Function may take some 300 KB."""
WRITE_SECONDS = 30.0
"""For a write without a version, which starts over whenever somebody else wrote meanwhile."""
_STATUS_MANAGER = "sless-watcher"


class KubernetesFunctions:
    """The port `Functions` on the custom resource.

    A patch is checked here against what was read, for sentences of our own and since a merge patch
    heeds nobody who applies; it is then written over exactly that version. The schema and the
    policies of the cluster check it once more.

    Args:
        server: With the rights that what is called here takes.
        leaving: Whether one that is being deleted is still found. Whoever answers asks must not:
            where a finalizer holds it, as with a deletion in the foreground, its generation rises.
    """

    def __init__(self, server: ApiServer, *, leaving: bool = True) -> None:
        self._server = server
        self._leaving = leaving

    async def find(self, namespace: str, name: str) -> StoredFunction | None:
        """A Function, or none."""
        manifest = await self._find(namespace, name)
        if manifest is None or (_is_leaving(manifest) and not self._leaving):
            return None
        return _stored(manifest)

    async def list(
        self, namespace: str | None = None, *, token: str = "", limit: int = 100
    ) -> FunctionPage:
        """Functions of a namespace, or of all; at most 500 a page."""
        try:
            page = await self._server.list(
                FUNCTIONS, namespace, limit=max(1, min(limit, PAGE_MAX)), token=token
            )
        except InvalidSetting as error:
            raise InvalidSetting(
                f"{token[:80]!r} is no token of a page: use the one given as next."
            ) from error
        return FunctionPage(tuple(_stored(item) for item in page.items), next=page.next)

    async def create(
        self, namespace: str, name: str, *, spec: Mapping[str, Any], manager: str
    ) -> StoredFunction:
        """A new Function of generation 1; raises `AlreadyExists`, `InvalidSetting`."""
        wanted = merge_patch({}, spec)
        check_spec(wanted, namespace=namespace, name=name)
        body = {"metadata": {"namespace": namespace, "name": name}, "spec": wanted}
        try:
            made = await self._server.create(FUNCTIONS, namespace, body, manager=manager)
        except AlreadyExists as error:
            raise AlreadyExists(f"Function {namespace}/{name} exists already.") from error
        return _stored(made)

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
        """A JSON merge patch (None removes), one write; nothing is written if nothing changes.

        Raises `FunctionNotFound`, `VersionConflict`, `ManagedElsewhere`, `InvalidSetting`,
        `InvalidKey`; `OwnerGone` for one that is being deleted.
        """
        change: Object = {"spec": dict(spec or {})}
        if annotations:
            change["metadata"] = {"annotations": dict(annotations)}
        try:
            async with asyncio.timeout(WRITE_SECONDS):
                while True:
                    before = await self._get(namespace, name)
                    _check_version(before, resource_version)
                    try:
                        return await self._write(before, change, manager=manager)
                    except VersionConflict:
                        if resource_version is not None:
                            raise
        except TimeoutError as error:
            raise StoreUnavailable(
                f"Function {namespace}/{name} is written by others all the time."
            ) from error

    async def delete(self, namespace: str, name: str, *, uid: str | None = None) -> None:
        """Deletes it and, by ownership, its Deployment; raises `FunctionNotFound`."""
        if not _can_be(namespace, name) or not await self._server.delete(
            FUNCTIONS, namespace, name, uid=uid
        ):
            raise _missing(namespace, name)

    async def write_status(
        self, namespace: str, name: str, *, uid: str, status: Mapping[str, Any]
    ) -> None:
        """Replaces the status, the generation untouched. A Function gone is no error.

        Refused when the status does not fit the custom resource: `InvalidSetting`.
        """
        if not _can_be(namespace, name):
            return
        # A JSON patch, as a merge patch would keep what the status before said besides. Its test
        # holds the uid, which a custom resource's status is else written without regard to.
        patch: list[Object] = [
            {"op": "test", "path": "/metadata/uid", "value": uid},
            {"op": "add", "path": "/status", "value": dict(status)},
        ]
        try:
            await self._server.patch(
                FUNCTIONS, namespace, name, patch, manager=_STATUS_MANAGER, subresource="status"
            )
        except InvalidSetting:
            # A test that fails is told like a patch that is none.
            found = await self._find(namespace, name)
            if found is not None and found["metadata"]["uid"] == uid:
                raise

    async def _write(self, before: Manifest, change: Object, *, manager: str) -> StoredFunction:
        after = merge_patch(before, change)
        changed = changed_fields(before, after)
        if not changed:
            return _stored(before)
        metadata = before["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        _check_stays(before)
        check_not_applied(parse_owners(metadata["managedFields"]), changed, manager=manager)
        if "metadata" in change:
            check_annotations(after["metadata"]["annotations"])
        if any(field[0] == "spec" for field in changed):
            check_spec(after["spec"], namespace=namespace, name=name, previous=before["spec"])
        version = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
        body = merge_patch(change, {"metadata": version})
        made = await self._server.patch(FUNCTIONS, namespace, name, body, manager=manager)
        if made is None:
            raise _missing(namespace, name)
        return _stored(made)

    async def _get(self, namespace: str, name: str) -> Manifest:
        manifest = await self._find(namespace, name)
        if manifest is None:
            raise _missing(namespace, name)
        return manifest

    async def _find(self, namespace: str, name: str) -> Manifest | None:
        if not _can_be(namespace, name):
            return None
        found = await self._server.find(FUNCTIONS, namespace, name)
        return None if found is None else _whole(found)


def _check_version(before: Manifest, wanted: str | None) -> None:
    metadata = before["metadata"]
    present = metadata["resourceVersion"]
    if wanted is not None and wanted != present:
        raise VersionConflict(
            f"Function {metadata['namespace']}/{metadata['name']} changed since it was read "
            f"(resourceVersion {wanted}, now {present}): read it again."
        )


def _check_stays(manifest: Manifest) -> None:
    """Nobody would answer what is asked of one that is being deleted."""
    metadata = manifest["metadata"]
    if _is_leaving(manifest):
        holding = ", ".join(metadata.get("finalizers") or ())
        raise OwnerGone(
            f"Function {metadata['namespace']}/{metadata['name']} is being deleted, and held by "
            f"the finalizers {holding}: ask again when it is gone."
        )


def _is_leaving(manifest: Manifest) -> bool:
    return "deletionTimestamp" in manifest["metadata"]


def _can_be(namespace: str, name: str) -> bool:
    try:
        check_namespace(namespace)
        check_name(name)
    except InvalidName:
        return False
    return True


def _missing(namespace: str, name: str) -> FunctionNotFound:
    return FunctionNotFound(f"There is no Function {namespace}/{name}.")


def _stored(manifest: Object) -> StoredFunction:
    whole = _whole(manifest)
    try:
        return StoredFunction(parse_function(whole), whole)
    except InvalidSetting as error:
        metadata = whole["metadata"]
        raise InternalError(
            f"The manifest of Function {metadata.get('namespace')}/{metadata.get('name')} cannot "
            f"be read ({error.message}): is the custom resource definition that of k8s/chart?"
        ) from error


def _whole(manifest: Object) -> Manifest:
    """With the empty parts that an API server leaves out, which the embedded home has."""
    metadata = {"labels": {}, "annotations": {}, "managedFields": [], **manifest["metadata"]}
    return {**manifest, "metadata": metadata, "status": manifest.get("status") or {}}
