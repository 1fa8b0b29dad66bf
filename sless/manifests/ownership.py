"""Who owns which field of a manifest: `metadata.managedFields`, as Kubernetes keeps them.

A field is a key of spec, or one annotation or label; lists are owned whole. Whoever *applies* (as
GitOps does) keeps what he names until he lets go of it; whoever *updates* takes what he changes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sless.errors import ManagedElsewhere
from sless.manifests.parse import API_VERSION

Field = tuple[str, ...]
"""A path such as `("spec", "handler")` or `("metadata", "annotations", "sless.io/cancel")`."""

_PARENTS: tuple[Field, ...] = (("spec",), ("metadata", "annotations"), ("metadata", "labels"))


class Operation(StrEnum):
    """How a manager came to own its fields."""

    APPLY = "Apply"
    UPDATE = "Update"


@dataclass(frozen=True, slots=True)
class Owner:
    """The fields that one manager owns by one kind of operation."""

    manager: str
    operation: Operation
    fields: frozenset[Field]
    time: str
    """Of its last write that changed something: RFC 3339 in UTC."""


def manifest_fields(manifest: Mapping[str, Any]) -> dict[Field, Any]:
    """Every field that can be owned, with its value."""
    return {
        (*parent, key): value
        for parent in _PARENTS
        for key, value in _below(manifest, parent).items()
    }


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> frozenset[Field]:
    """The fields in which two manifests differ."""
    old, new = manifest_fields(before), manifest_fields(after)
    return frozenset(
        field
        for field in old.keys() | new.keys()
        if (field in old) != (field in new) or old.get(field) != new.get(field)
    )


def check_not_applied(owners: Iterable[Owner], changed: Iterable[Field], *, manager: str) -> None:
    """Raises `ManagedElsewhere` when another manager applies a field that would change."""
    applying = [owner for owner in owners if owner.operation is Operation.APPLY]
    _check_free(applying, changed, manager=manager)


def check_not_owned(owners: Iterable[Owner], changed: Iterable[Field], *, manager: str) -> None:
    """Raises `ManagedElsewhere` when another manager owns a field that would change."""
    _check_free(owners, changed, manager=manager)


def owners_after_update(
    owners: Iterable[Owner],
    *,
    manager: str,
    changed: frozenset[Field],
    present: Iterable[Field],
    time: str,
) -> tuple[Owner, ...]:
    """The owners once `manager` changed fields, of which `present` says those still there."""
    taken = changed & frozenset(present)
    left = [replace(owner, fields=owner.fields - changed) for owner in owners]
    mine = _owned(left, manager, Operation.UPDATE)
    others = [owner for owner in left if not _is(owner, manager, Operation.UPDATE)]
    fields = mine | taken
    return _kept([*others, Owner(manager, Operation.UPDATE, fields, time)])


def owners_after_apply(
    owners: Iterable[Owner],
    *,
    manager: str,
    named: frozenset[Field],
    changed: frozenset[Field],
    time: str,
) -> tuple[Owner, ...]:
    """The owners once `manager` applied the fields it named, some with changed values."""
    owners = tuple(owners)
    if not changed and _owned(owners, manager, Operation.APPLY) == named:
        return owners  # the same applied again, as GitOps does every few minutes: no write
    others = [
        replace(owner, fields=owner.fields - changed)
        for owner in owners
        if not _is(owner, manager, Operation.APPLY)
    ]
    return _kept([*others, Owner(manager, Operation.APPLY, named, time)])


def let_go(owners: Iterable[Owner], *, manager: str, named: frozenset[Field]) -> frozenset[Field]:
    """Fields to remove: `manager` applied them, names them no longer, and nobody else owns them."""
    owners = list(owners)
    before = _owned(owners, manager, Operation.APPLY)
    elsewhere = [owner.fields for owner in owners if not _is(owner, manager, Operation.APPLY)]
    return before - named - frozenset().union(*elsewhere)


def parse_owners(entries: Iterable[Mapping[str, Any]]) -> tuple[Owner, ...]:
    """Owners from `metadata.managedFields`; raises KeyError, ValueError or TypeError on rubbish."""
    return tuple(
        Owner(
            manager=entry["manager"],
            operation=Operation(entry["operation"]),
            fields=frozenset(_parse_fields(entry["fieldsV1"])),
            time=entry["time"],
        )
        for entry in entries
    )


def render_owners(owners: Iterable[Owner]) -> list[dict[str, Any]]:
    """Owners as `metadata.managedFields`."""
    return [
        {
            "manager": owner.manager,
            "operation": str(owner.operation),
            "apiVersion": API_VERSION,
            "time": owner.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": _render_fields(owner.fields),
        }
        for owner in owners
    ]


def _check_free(owners: Iterable[Owner], changed: Iterable[Field], *, manager: str) -> None:
    wanted = sorted(changed)
    for owner in owners:
        theirs = [field for field in wanted if field in owner.fields]
        if owner.manager != manager and theirs:
            raise ManagedElsewhere(
                f"{'.'.join(theirs[0])} is managed by {owner.manager!r}: change it there."
            )


def _is(owner: Owner, manager: str, operation: Operation) -> bool:
    return owner.manager == manager and owner.operation is operation


def _owned(owners: Iterable[Owner], manager: str, operation: Operation) -> frozenset[Field]:
    mine = (owner.fields for owner in owners if _is(owner, manager, operation))
    return next(mine, frozenset())


def _kept(owners: Iterable[Owner]) -> tuple[Owner, ...]:
    owning = (owner for owner in owners if owner.fields)
    return tuple(sorted(owning, key=lambda owner: (owner.manager, owner.operation)))


def _below(manifest: Mapping[str, Any], parent: Field) -> Mapping[str, Any]:
    value: Any = manifest
    for key in parent:
        value = value.get(key) or {}
    found: Mapping[str, Any] = value
    return found


def _parse_fields(tree: Mapping[str, Any], above: Field = ()) -> Iterable[Field]:
    for key, below in tree.items():
        if key == ".":  # an API server's mark for the parent itself
            continue
        path = (*above, key.removeprefix("f:"))
        if below:
            yield from _parse_fields(below, path)
        else:
            yield path


def _render_fields(fields: Iterable[Field]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for field in sorted(fields):
        at = tree
        for key in field:
            at = at.setdefault(f"f:{key}", {})
    return tree
