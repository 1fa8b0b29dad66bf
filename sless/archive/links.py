"""Where symbolic links lead; they may not lead out."""

from collections.abc import Mapping

from sless.archive.paths import quote
from sless.errors import ArchiveUnsafeLink

TARGET_BYTES = 1_024
"""A link's target: as long as a path may be."""
_STEPS = 128
"""Parts walked for one link: deeper than any tree in use, and cheap for 20 000 links."""


def check_links(links: Mapping[str, str]) -> None:
    """Raises `ArchiveUnsafeLink` for a link that leaves the tree, never ends or has a bad target.

    `links` has each link's target by its path. A target that does not exist is allowed: a build
    may create it.
    """
    for path, target in links.items():
        check_target(path, target)
        follow(path, links)


def check_target(path: str, target: str) -> None:
    """Raises `ArchiveUnsafeLink` for a target that systems would read in different ways."""
    if not target or "\0" in target or "\\" in target or len(target.encode()) > TARGET_BYTES:
        raise ArchiveUnsafeLink(
            f"Link {quote(path)} has a target that is empty, over {TARGET_BYTES} bytes, or has a "
            "backslash or NUL in it; replace the link by what it should name."
        )


def follow(path: str, links: Mapping[str, str]) -> str:
    """Where a path leads when every link on the way is followed; raises `ArchiveUnsafeLink`."""
    here: list[str] = []
    ahead = path.split("/")[::-1]
    for _ in range(_STEPS):
        if not ahead:
            return "/".join(here)
        _step(here, ahead, path=path, links=links)
    raise ArchiveUnsafeLink(
        f"Link {quote(path)} never ends, or its way has over {_STEPS} parts; replace it by what it "
        "should name."
    )


def _step(here: list[str], ahead: list[str], *, path: str, links: Mapping[str, str]) -> None:
    part = ahead.pop()
    if part == "..":
        if not here:
            raise _leaves(path, links)
        here.pop()
        return
    if part in {"", "."}:
        return
    here.append(part)
    target = links.get("/".join(here))
    if target is not None:
        if target.startswith("/"):
            raise _leaves(path, links)
        here.pop()
        ahead.extend(target.split("/")[::-1])


def _leaves(path: str, links: Mapping[str, str]) -> ArchiveUnsafeLink:
    target = f" to {quote(links[path])}" if path in links else ""
    return ArchiveUnsafeLink(
        f"Link {quote(path)}{target} leaves the function's folder; copy in what it names, or leave "
        "it out."
    )
