"""Objects of one kind in memory, told by lists and watches that may come late or twice: pure.

The newer resourceVersion wins, whoever tells it. They are numbers that rise over all objects of an
API server's store, so that what a list of version 9 does not have, nobody older can bring back.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Object = Mapping[str, Any]
Key = tuple[str, str]
"""Namespace and name."""
T = TypeVar("T")


def _together(_value: object) -> Hashable:
    return None


def _ignore(_group: Hashable) -> None:
    pass


@dataclass(slots=True)
class Mirror(Generic[T]):
    """What `read` makes of each object; one that it makes None of is as good as not there.

    An object is read once for each version of it.
    """

    read: Callable[[Object], T | None]
    group: Callable[[T], Hashable] = _together
    """What an object belongs to, for `among` and `changed`."""
    changed: Callable[[Any], None] = _ignore
    """Told the group of what came, went, or became something unequal."""
    listed: bool = False
    """Whether everything there was has been told once."""
    _values: dict[Key, T] = field(default_factory=dict)
    _groups: dict[Hashable, dict[Key, T]] = field(default_factory=dict)
    _versions: dict[Key, int] = field(default_factory=dict)
    """Of what is there, and of what went since the last list."""
    _floor: int = 0
    """The last list's version: what is older than that and not here is gone."""

    def items(self) -> Mapping[Key, T]:
        """All there is."""
        return self._values

    def get(self, key: Key) -> T | None:
        """One of them."""
        return self._values.get(key)

    def among(self, group: Hashable) -> list[T]:
        """Those of a group."""
        return list(self._groups.get(group, {}).values())

    def put(self, thing: Object) -> None:
        """An object as somebody saw it."""
        if self._is_news(thing):
            self._note(thing, self.read(thing))

    def drop(self, thing: Object) -> None:
        """An object that is gone, with the version of its end."""
        if self._is_news(thing):
            self._note(thing, None)

    def start_list(self, *, version: int) -> None:
        """Before what a list of this version has is put."""
        if version < self._floor:
            # The API server's store was restored from a backup: its numbers begin anew.
            self._versions = dict.fromkeys(self._values, 0)
            self._floor = 0

    def end_list(self, seen: Iterable[Key], *, version: int) -> None:
        """Everything that a list of this version has was put: what it has not is gone."""
        present = set(seen)
        for key in [key for key in self._values if key not in present]:
            if self._versions[key] <= version:
                self._set(key, None)
        self._floor = max(self._floor, version)
        self._versions = {
            key: known
            for key, known in self._versions.items()
            if key in self._values or known > self._floor
        }
        self.listed = True

    def _is_news(self, thing: Object) -> bool:
        return version_of(thing) > self._versions.get(key_of(thing), self._floor)

    def _note(self, thing: Object, value: T | None) -> None:
        key = key_of(thing)
        self._versions[key] = version_of(thing)
        self._set(key, value)

    def _set(self, key: Key, value: T | None) -> None:
        before = self._values.pop(key, None)
        if before is not None:
            self._leave(key, self.group(before))
        if value is not None:
            self._values[key] = before if value == before and before is not None else value
            self._groups.setdefault(self.group(value), {})[key] = self._values[key]
        if value != before:
            for group in {self.group(each) for each in (before, value) if each is not None}:
                self.changed(group)

    def _leave(self, key: Key, group: Hashable) -> None:
        members = self._groups[group]
        del members[key]
        if not members:
            del self._groups[group]


def key_of(thing: Object) -> Key:
    """Namespace and name."""
    metadata = thing["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def version_of(thing: Object) -> int:
    """Its resourceVersion."""
    return int(thing["metadata"]["resourceVersion"])
