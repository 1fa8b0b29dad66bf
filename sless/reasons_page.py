"""The table of reasons in docs/concepts.md: `python -m sless.reasons_page docs/concepts.md`."""

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from sless.errors import SlessError, leaves

START = "<!-- reasons: made by scripts/docs from sless/errors.py; a test keeps them true -->"
END = "<!-- end of reasons -->"


def render_page(page: str) -> str:
    """The page with its table made anew; raises ValueError where a mark is missing."""
    before, _, rest = page.partition(START)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"the page lacks {START} or {END}")
    return "\n".join([before + START, "", *_groups(), END + after])


def _groups() -> Iterator[str]:
    for parent, reasons in groupby(leaves(), key=_parent):
        yield f"**{parent.__name__}.** {_meaning(parent)}\n"
        yield "| reason | meaning | HTTP | tried again |\n|---|---|---|---|"
        for reason in reasons:
            again = "yes" if reason.retryable else "no"
            yield f"| `{reason.reason}` | {_meaning(reason)} | {reason.status} | {again} |"
        yield ""


def _parent(reason: type[SlessError]) -> type[SlessError]:
    """The class whose docstring heads a group: a leaf just below the root heads its own."""
    parent = reason.__bases__[0]
    return reason if parent is SlessError else parent


def _meaning(kind: type[SlessError]) -> str:
    return " ".join((kind.__doc__ or "").split())


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(render_page(path.read_text()))
