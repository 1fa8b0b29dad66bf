"""Rows of `functions`: a manifest each, checked and counted up as it is saved."""

import json
import sqlite3
from datetime import UTC, datetime
from typing import Any

from sless.adapters.sqlite.schema import next_version
from sless.errors import FunctionNotFound, InternalError, InvalidSetting
from sless.manifests import check_annotations, check_labels, check_spec, parse_function
from sless.manifests.ownership import parse_owners
from sless.model.times import rfc3339
from sless.ports.functions import Manifest, StoredFunction


def find_manifest(connection: sqlite3.Connection, namespace: str, name: str) -> Manifest | None:
    """A Function's manifest, or none; raises `InternalError` when the row is no manifest."""
    row = connection.execute(
        "SELECT namespace, name, manifest FROM functions WHERE namespace = ? AND name = ?",
        (namespace, name),
    ).fetchone()
    return None if row is None else _parse(row)


def get_manifest(connection: sqlite3.Connection, namespace: str, name: str) -> Manifest:
    """A Function's manifest; raises `FunctionNotFound`."""
    manifest = find_manifest(connection, namespace, name)
    if manifest is None:
        raise FunctionNotFound(f"There is no Function {namespace}/{name}.")
    return manifest


def list_manifests(
    connection: sqlite3.Connection,
    namespace: str | None,
    *,
    after: tuple[str, str],
    limit: int,
) -> list[Manifest]:
    """Manifests of a namespace, or of all, by namespace and name, those after a name."""
    found = connection.execute(
        "SELECT namespace, name, manifest FROM functions"
        " WHERE (namespace, name) > (?, ?) AND namespace = coalesce(?, namespace)"
        " ORDER BY namespace, name LIMIT ?",
        (*after, namespace, limit),
    )
    return [_parse(row) for row in found]


def save(
    connection: sqlite3.Connection, before: Manifest | None, after: Manifest
) -> StoredFunction:
    """Writes `after` if it differs: checked, with a new version, and a new generation if due.

    `before` is what is stored, or None. Raises `InvalidName`, `InvalidSetting`, `InvalidKey`.
    """
    if before is not None and _same(before, after):
        return stored(before)
    metadata = dict(after["metadata"])
    if before is None or not _same(before["metadata"], metadata):
        check_annotations(metadata["annotations"])
        check_labels(metadata["labels"])
    if before is None or not _same(before["spec"], after["spec"]):
        _check_spec(before, after)
        metadata["generation"] += 1
    metadata["resourceVersion"] = str(next_version(connection))
    saved = {**after, "metadata": metadata}
    _write(connection, saved)
    return stored(saved)


def stored(manifest: Manifest) -> StoredFunction:
    """The Function of a manifest together with it."""
    return StoredFunction(parse_function(manifest), manifest)


def timestamp() -> str:
    """Now, as Kubernetes writes it: RFC 3339 in UTC, whole seconds."""
    return rfc3339(datetime.now(UTC))


def _check_spec(before: Manifest | None, after: Manifest) -> None:
    metadata = after["metadata"]
    check_spec(
        after["spec"],
        namespace=metadata["namespace"],
        name=metadata["name"],
        previous=None if before is None else before["spec"],
    )


def _same(one: Manifest, other: Manifest) -> bool:
    # As JSON, since Python takes 1 and true for equal.
    return _json(one) == _json(other)


def _json(manifest: Manifest) -> str:
    return json.dumps(manifest, sort_keys=True, separators=(",", ":"))


def _write(connection: sqlite3.Connection, manifest: Manifest) -> None:
    metadata = manifest["metadata"]
    # An update in place: replacing the row would cascade to its Deployment.
    connection.execute(
        "INSERT INTO functions (namespace, name, uid, generation, resource_version, manifest)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (namespace, name) DO UPDATE SET"
        " generation = excluded.generation, resource_version = excluded.resource_version,"
        " manifest = excluded.manifest",
        (
            metadata["namespace"],
            metadata["name"],
            metadata["uid"],
            metadata["generation"],
            int(metadata["resourceVersion"]),
            json.dumps(manifest, separators=(",", ":")),  # in the order that people read
        ),
    )


def _parse(row: sqlite3.Row) -> Manifest:
    where = f"{row['namespace']}/{row['name']}"
    try:
        manifest: Any = json.loads(row["manifest"])
        function = parse_function(manifest)
        metadata = {"labels": {}, "annotations": {}, "managedFields": [], **manifest["metadata"]}
        parse_owners(metadata["managedFields"])
    except (ValueError, KeyError, TypeError, AttributeError, InvalidSetting) as error:
        raise _unreadable(where, error) from error
    if str(function.ref) != where:
        raise _unreadable(where, f"it is the manifest of {function.ref}")
    return {**manifest, "metadata": metadata, "status": manifest.get("status", {})}


def _unreadable(where: str, why: object) -> InternalError:
    return InternalError(
        f"The stored manifest of Function {where} cannot be read ({why}): delete the Function and "
        "deploy it again."
    )
