"""docs/settings.md, made from the settings themselves: `python -m sless.settings_page`."""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from sless.settings import DELIMITER, PREFIX, Settings

_HEAD = """# Settings

Made by `scripts/docs` from `sless/settings.py`; a test keeps it true.

Every part reads these variables once, at its start. `sless up` passes its own environment on to the
parts of the home, and settles addresses, ports and the data folder itself; its options win over
variables. A value that cannot be is refused with the variable's name. Lists and mappings are JSON.

Read by their own tools, not by us: `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY` and
Temporal's TLS variables; `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION` and the rest of
AWS's. The embedded home has its own Temporal and S3 and keeps those variables from its parts.

The command line has its own few: `SLESS_SERVER`, `SLESS_TOKEN`, `SLESS_DATA`, `SLESS_NAMESPACE` and
`SLESS_DEBUG`; see `sless --help`.
"""


def render_page() -> str:
    """The whole page, in Markdown."""
    return "\n".join([_HEAD, *_sections()]) + "\n"


def _sections() -> Iterator[str]:
    yield from _table(
        (PREFIX + name.upper(), field)
        for name, field in Settings.model_fields.items()
        if not _is_group(field)
    )
    for name, field in Settings.model_fields.items():
        if _is_group(field):
            group: type[BaseModel] = field.annotation  # type: ignore[assignment]
            yield f"\n## {name.capitalize()}\n\n{(group.__doc__ or '').strip()}\n"
            start = PREFIX + name.upper() + DELIMITER
            yield from _table(
                (start + inner.upper(), inner_field)
                for inner, inner_field in group.model_fields.items()
            )
            yield from _listed(group, start=start)


def _listed(group: type[BaseModel], *, start: str) -> Iterator[str]:
    """The members of objects, where a setting is a list of them."""
    for name, field in group.model_fields.items():
        element = next(iter(get_args(field.annotation)), None)
        if isinstance(element, type) and issubclass(element, BaseModel):
            yield f"\nIn `{start}{name.upper()}`: {_first_lower(element.__doc__)}\n"
            yield from _table(element.model_fields.items(), name="member")


def _is_group(field: FieldInfo) -> bool:
    return isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)


def _first_lower(text: str | None) -> str:
    return (text or "")[:1].lower() + (text or "")[1:].strip()


def _table(rows: Iterable[tuple[str, FieldInfo]], *, name: str = "variable") -> Iterator[str]:
    yield f"| {name} | default | meaning |\n|---|---|---|"
    for variable, field in rows:
        meaning = " ".join((field.description or "").split())
        choices = _choices(field.annotation)
        yield f"| `{variable}` | {_default(field)} | {meaning}{choices} |"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "needed"
    value = field.get_default(call_default_factory=True)
    if value in (None, ""):
        return "none"
    if isinstance(value, tuple | dict):
        return f"`{json.dumps(value)}`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _choices(annotation: Any) -> str:
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) is not Literal:
        return ""
    return f" One of {', '.join(f'`{choice}`' for choice in get_args(annotation))}."


if __name__ == "__main__":
    sys.stdout.write(render_page())
