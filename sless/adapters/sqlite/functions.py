"""Functions in SQLite, with the server-side rules of the custom resource."""

import sqlite3
import uuid
from collections.abc import Mapping
from typing import Any

from sless.adapters.sqlite import function_rows as rows
from sless.adapters.sqlite.database import Database
from sless.errors import AlreadyExists, FunctionNotFound, InvalidSetting, VersionConflict
from sless.manifests import API_VERSION, KIND, merge_patch
from sless.manifests.ownership import (
    Field,
    changed_fields,
    check_not_applied,
    check_not_owned,
    let_go,
    manifest_fields,
    owners_after_apply,
    owners_after_update,
    parse_owners,
    render_owners,
)
from sless.ports.functions import FunctionPage, Manifest, StoredFunction

PAGE_MAX = 1000
"""Functions in one page, whatever is asked for."""


class SqliteFunctions:
    """The port `Functions` on the home's database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, namespace: str, name: str) -> StoredFunction | None:
        """A Function, or none."""
        manifest = await self._database.read(rows.find_manifest, namespace, name)
        return None if manifest is None else rows.stored(manifest)

    async def list(
        self, namespace: str | None = None, *, token: str = "", limit: int = 100
    ) -> FunctionPage:
        """Functions of a namespace, or of all; at most 1000 a page."""
        after = _parse_token(token)
        limit = max(1, min(limit, PAGE_MAX))
        found = await self._database.read(
            rows.list_manifests, namespace, after=after, limit=limit + 1
        )
        items = tuple(rows.stored(manifest) for manifest in found[:limit])
        more = len(found) > limit
        return FunctionPage(items, next=str(items[-1].function.ref) if more else "")

    async def create(
        self, namespace: str, name: str, *, spec: Mapping[str, Any], manager: str
    ) -> StoredFunction:
        """A new Function of generation 1; raises `AlreadyExists`, `InvalidSetting`."""
        return await self._database.write(_create, namespace, name, spec=spec, manager=manager)

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
        `InvalidKey`.
        """
        change = {"spec": spec or {}}
        if annotations:
            change["metadata"] = {"annotations": annotations}
        return await self._database.write(
            _patch,
            namespace,
            name,
            change=change,
            manager=manager,
            resource_version=resource_version,
        )

    async def apply(  # noqa: PLR0913  # an applied manifest has this many sides, all named
        self,
        namespace: str,
        name: str,
        *,
        spec: Mapping[str, Any],
        annotations: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
        manager: str,
        force: bool = False,
    ) -> StoredFunction:
        """A server-side apply: makes or changes what is named, owns it, removes what it let go of.

        Raises `ManagedElsewhere` when a field would change that another manager owns, unless
        `force` takes it over; `InvalidSetting`, `InvalidKey`.
        """
        metadata = {"annotations": annotations or {}, "labels": labels or {}}
        return await self._database.write(
            _apply,
            namespace,
            name,
            named={"metadata": metadata, "spec": spec},
            manager=manager,
            force=force,
        )

    async def delete(self, namespace: str, name: str, *, uid: str | None = None) -> None:
        """Deletes it and, by ownership, its Deployment; raises `FunctionNotFound`."""
        await self._database.write(_delete, namespace, name, uid=uid)

    async def write_status(
        self, namespace: str, name: str, *, uid: str, status: Mapping[str, Any]
    ) -> None:
        """Replaces the status, the generation untouched. A Function gone is no error."""
        await self._database.write(_write_status, namespace, name, uid=uid, status=status)


def _create(
    connection: sqlite3.Connection,
    namespace: str,
    name: str,
    *,
    spec: Mapping[str, Any],
    manager: str,
) -> StoredFunction:
    if rows.find_manifest(connection, namespace, name) is not None:
        raise AlreadyExists(f"Function {namespace}/{name} exists already.")
    blank = _blank(namespace, name)
    after = merge_patch(blank, {"spec": spec})
    _update_owners(blank, after, manager=manager)
    return rows.save(connection, None, after)


def _patch(  # noqa: PLR0913  # a patch has this many sides, all named
    connection: sqlite3.Connection,
    namespace: str,
    name: str,
    *,
    change: Mapping[str, Any],
    manager: str,
    resource_version: str | None,
) -> StoredFunction:
    before = rows.get_manifest(connection, namespace, name)
    present = before["metadata"]["resourceVersion"]
    if resource_version is not None and resource_version != present:
        raise VersionConflict(
            f"Function {namespace}/{name} changed since it was read (resourceVersion "
            f"{resource_version}, now {present}): read it again."
        )
    after = merge_patch(before, change)
    _update_owners(before, after, manager=manager)
    return rows.save(connection, before, after)


def _apply(  # noqa: PLR0913  # an applied manifest has this many sides, all named
    connection: sqlite3.Connection,
    namespace: str,
    name: str,
    *,
    named: Manifest,
    manager: str,
    force: bool,
) -> StoredFunction:
    stored = rows.find_manifest(connection, namespace, name)
    before = stored or _blank(namespace, name)
    owners = parse_owners(before["metadata"]["managedFields"])
    fields = frozenset(manifest_fields(named))
    dropped = let_go(owners, manager=manager, named=fields)
    after = merge_patch(merge_patch(before, _removal(dropped)), named)
    changed = changed_fields(before, after)
    if not force:
        check_not_owned(owners, changed, manager=manager)
    after["metadata"]["managedFields"] = render_owners(
        owners_after_apply(
            owners, manager=manager, named=fields, changed=changed, time=rows.timestamp()
        )
    )
    return rows.save(connection, stored, after)


def _delete(connection: sqlite3.Connection, namespace: str, name: str, *, uid: str | None) -> None:
    # The Deployment goes with it by its foreign key; instances stay until the runner ended them.
    done = connection.execute(
        "DELETE FROM functions WHERE namespace = ? AND name = ? AND uid = coalesce(?, uid)",
        (namespace, name, uid),
    )
    if done.rowcount == 0:
        raise FunctionNotFound(f"There is no Function {namespace}/{name}.")


def _write_status(
    connection: sqlite3.Connection,
    namespace: str,
    name: str,
    *,
    uid: str,
    status: Mapping[str, Any],
) -> None:
    before = rows.find_manifest(connection, namespace, name)
    if before is not None and before["metadata"]["uid"] == uid:
        rows.save(connection, before, {**before, "status": dict(status)})


def _update_owners(before: Manifest, after: Manifest, *, manager: str) -> None:
    owners = parse_owners(before["metadata"]["managedFields"])
    changed = changed_fields(before, after)
    check_not_applied(owners, changed, manager=manager)
    if changed:
        updated = owners_after_update(
            owners,
            manager=manager,
            changed=changed,
            present=manifest_fields(after),
            time=rows.timestamp(),
        )
        after["metadata"] = {**after["metadata"], "managedFields": render_owners(updated)}


def _blank(namespace: str, name: str) -> Manifest:
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {
            "namespace": namespace,
            "name": name,
            "uid": str(uuid.uuid4()),
            "generation": 0,
            "resourceVersion": "",
            "creationTimestamp": rows.timestamp(),
            "labels": {},
            "annotations": {},
            "managedFields": [],
        },
        "spec": {},
        "status": {},
    }


def _removal(fields: frozenset[Field]) -> Manifest:
    patch: Manifest = {}
    for *parents, key in fields:
        at = patch
        for parent in parents:
            at = at.setdefault(parent, {})
        at[key] = None
    return patch


def _parse_token(token: str) -> tuple[str, str]:
    namespace, slash, name = token.partition("/")
    if token and not (namespace and slash and name):
        raise InvalidSetting(f"{token[:80]!r} is no token of a page: use the one given as next.")
    return namespace, name
