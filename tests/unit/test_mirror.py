"""A mirror of objects ends up as the store is, in whatever order it is told."""

from collections.abc import Hashable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sless.adapters.kubernetes.mirror import Mirror, key_of

Thing = dict[str, Any]
Event = tuple[str, Thing]
NAMES = ("a", "b", "c")


def thing(name: str, version: int, value: object = None) -> Thing:
    metadata = {"namespace": "team", "name": name, "resourceVersion": str(version)}
    return {"metadata": metadata, "value": value}


def value_of(one: Any) -> Any:
    return one["value"]


class Store:
    """An API server's: each write has the next version."""

    def __init__(self) -> None:
        self.version = 0
        self.live: dict[str, Thing] = {}
        self.events: list[Event] = []
        self.lists: list[tuple[int, list[Thing]]] = []

    def write(self, name: str, value: int | None) -> None:
        if value is None and name not in self.live:
            return
        self.version += 1
        kind = "put" if value is not None else "drop"
        made = thing(name, self.version, value if value is not None else "its last")
        self.events.append((kind, made))
        if value is not None:
            self.live[name] = made
        else:
            del self.live[name]

    def list(self) -> None:
        self.lists.append((self.version, list(self.live.values())))


def relist(mirror: Mirror[Any], version: int, things: list[Thing]) -> None:
    mirror.start_list(version=version)
    for each in things:
        mirror.put(each)
    mirror.end_list([key_of(each) for each in things], version=version)


def tell(mirror: Mirror[Any], event: Event) -> None:
    kind, told = event
    (mirror.put if kind == "put" else mirror.drop)(told)


WRITES = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(NAMES), st.one_of(st.none(), st.integers(0, 2))), st.just("list")
    ),
    max_size=25,
)


@given(WRITES, st.data())
def test_it_ends_as_the_store_is(writes: list[Any], data: st.DataObject) -> None:
    store = Store()
    for write in writes:
        if write == "list":
            store.list()
        else:
            store.write(*write)
    store.list()
    # Lists come in their order; events as they like, twice or, but for the last list, never.
    some = data.draw(st.lists(st.sampled_from(store.events))) if store.events else []
    told = data.draw(st.permutations([*some, *(["list"] * len(store.lists))]))
    mirror = Mirror(value_of)
    pending = list(store.lists)
    for each in told:
        if each == "list":
            relist(mirror, *pending.pop(0))
        else:
            tell(mirror, each)  # type: ignore[arg-type]  # the other kind was just told apart
    assert {name: found for (_, name), found in mirror.items().items()} == {
        name: each["value"] for name, each in store.live.items()
    }


@given(WRITES, st.data())
def test_all_events_in_any_order_do_without_a_list(writes: list[Any], data: st.DataObject) -> None:
    store = Store()
    for write in writes:
        if write != "list":
            store.write(*write)
    mirror = Mirror(value_of)
    for event in data.draw(st.permutations(store.events)):
        tell(mirror, event)
    assert {name: found for (_, name), found in mirror.items().items()} == {
        name: each["value"] for name, each in store.live.items()
    }


def test_an_equal_value_is_the_same_and_nobody_is_told() -> None:
    told: list[Hashable] = []
    mirror = Mirror(value_of, group=lambda value: value[0], changed=told.append)
    mirror.put(thing("a", 1, ["x", "long"]))
    before = mirror.get(("team", "a"))
    mirror.put(thing("a", 2, ["x", "long"]))
    assert mirror.get(("team", "a")) is before
    assert told == ["x"]


def test_both_groups_are_told_of_a_move() -> None:
    told: list[Hashable] = []
    mirror = Mirror(value_of, group=lambda value: value, changed=told.append)
    mirror.put(thing("a", 1, "x"))
    mirror.put(thing("b", 2, "x"))
    told.clear()
    mirror.put(thing("a", 3, "y"))
    assert sorted(map(str, told)) == ["x", "y"]
    assert (mirror.among("x"), mirror.among("y"), mirror.among("z")) == (["x"], ["y"], [])
    mirror.drop(thing("b", 4))
    assert mirror.among("x") == []


def test_what_cannot_be_read_is_not_there_and_is_read_once() -> None:
    read: list[Thing] = []

    def refuse(one: Any) -> str | None:
        read.append(one)
        return None if one["value"] == "rubbish" else str(one["value"])

    mirror = Mirror(refuse)
    mirror.put(thing("a", 1, "good"))
    spoiled = thing("a", 2, "rubbish")
    mirror.put(spoiled)
    for _ in range(2):
        relist(mirror, 3, [spoiled])
    assert not mirror.items()
    assert len(read) == 2


@pytest.mark.parametrize("listed", [False, True])
def test_it_says_whether_all_was_told(*, listed: bool) -> None:
    mirror = Mirror(value_of)
    if listed:
        relist(mirror, 1, [])
    assert mirror.listed is listed


def test_a_store_from_a_backup_is_believed() -> None:
    mirror = Mirror(value_of)
    relist(mirror, 100, [thing("a", 90, "new"), thing("b", 91, "new")])
    relist(mirror, 20, [thing("a", 10, "old")])
    assert dict(mirror.items()) == {("team", "a"): "old"}
    mirror.put(thing("a", 21, "newer"))
    assert dict(mirror.items()) == {("team", "a"): "newer"}
