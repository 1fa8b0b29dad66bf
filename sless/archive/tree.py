"""The files of a function as one checked tree, wherever they were read from."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from sless.archive.limits import ArchiveLimits
from sless.archive.links import check_links, follow
from sless.archive.paths import collision_key, is_litter, parents, quote
from sless.errors import (
    ArchiveEmpty,
    ArchiveNameCollision,
    ArchiveTooLarge,
    ArchiveTooManyEntries,
    ArchiveUnsafeLink,
)

NOWHERE = -1
"""The origin of a folder that no entry names."""


class Kind(StrEnum):
    """What a node is; there is nothing else in a tree."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Node:
    """One file, folder or link."""

    path: str
    """Below the function's folder, checked by `parse_path`."""
    kind: Kind
    origin: int = NOWHERE
    """Its position in the list it was read from."""
    executable: bool = False
    size: int = 0
    """Bytes, as its source claims."""
    target: str = ""
    """Of a link, as written."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Nodes by path: sorted, each parent before its children, every folder named."""

    nodes: dict[str, Node]

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes.values())

    def links(self) -> dict[str, str]:
        """Each link's target by its path."""
        return _links(self.nodes.values())

    def find_file(self, path: str) -> Node | None:
        """The file that a path leads to, links followed."""
        node = self.nodes.get(path)
        if node is None or node.kind is Kind.LINK:
            try:
                node = self.nodes.get(follow(path, self.links()))
            except ArchiveUnsafeLink:
                return None
        return node if node is not None and node.kind is Kind.FILE else None


def make_tree(nodes: Iterable[Node], limits: ArchiveLimits, *, strip: bool = True) -> Tree:
    """The tree of those nodes: litter dropped, one single top folder stripped.

    Raises the leaf of `BadArchive` that tells what is wrong with them.
    """
    placed = _place_all((node for node in nodes if not is_litter(node.path)), limits)
    if all(node.kind is Kind.FOLDER for node in placed):
        raise ArchiveEmpty("There is no file in it; zip the folder that holds the handler.")
    _check_size(placed, limits)
    kept = _strip_top(placed) if strip else placed
    check_links(_links(kept))
    return Tree({node.path: node for node in sorted(kept, key=lambda node: node.path)})


def _place_all(nodes: Iterable[Node], limits: ArchiveLimits) -> list[Node]:
    seen: dict[str, Node] = {}
    for node in nodes:
        _place(node, seen)
    for node in list(seen.values()):
        _place_parents(node, seen)
        if len(seen) > 2 * limits.entries:
            raise ArchiveTooManyEntries(
                f"The zip has more than {2 * limits.entries:,} files and folders; leave out what "
                "the function does not need."
            )
    return list(seen.values())


def _place(node: Node, seen: dict[str, Node]) -> None:
    other = seen.setdefault(collision_key(node.path), node)
    # Some tools list a folder twice; nothing is lost by that.
    twice_a_folder = other.path == node.path and node.kind is other.kind is Kind.FOLDER
    if other is not node and not twice_a_folder:
        raise _collision(node.path, other.path)


def _place_parents(node: Node, seen: dict[str, Node]) -> None:
    for path in parents(node.path):
        folder = Node(path, Kind.FOLDER)
        other = seen.setdefault(collision_key(path), folder)
        if other is folder:
            continue
        if other.path == path and other.kind is Kind.LINK:
            raise ArchiveUnsafeLink(
                f"Entry {quote(node.path)} runs through the link {quote(path)}; zip the link or "
                "the folder, not both."
            )
        if other.path != path or other.kind is not Kind.FOLDER:
            raise _collision(path, other.path)
        return  # Its own parents were placed with it, or will be.


def _collision(path: str, other: str) -> ArchiveNameCollision:
    if path == other:
        return ArchiveNameCollision(f"The zip has {quote(path)} twice; keep one of the two.")
    return ArchiveNameCollision(
        f"The zip has {quote(other)} and {quote(path)}, which are one name where case does not "
        "count; rename one."
    )


def _check_size(nodes: Iterable[Node], limits: ArchiveLimits) -> None:
    files = [node for node in nodes if node.kind is Kind.FILE]
    if sum(node.size for node in files) > limits.inflated_bytes:
        largest = max(files, key=lambda node: node.size)
        raise ArchiveTooLarge(
            f"The files take more than {limits.inflated_bytes:,} bytes inflated, of which "
            f"{quote(largest.path)} alone {largest.size:,}; leave out what the function does not "
            "need."
        )


def _strip_top(nodes: list[Node]) -> list[Node]:
    tops = [node for node in nodes if "/" not in node.path]
    if len(tops) > 1 or tops[0].kind is not Kind.FOLDER:
        return nodes
    cut = len(tops[0].path) + 1
    return [replace(node, path=node.path[cut:]) for node in nodes if node is not tops[0]]


def _links(nodes: Iterable[Node]) -> dict[str, str]:
    return {node.path: node.target for node in nodes if node.kind is Kind.LINK}
