"""A function's Deployment from the live object: pure.

The revision is read from the pods' template, not from a note, so that a change by hand is seen as
another revision; one that the cluster makes of each write is none.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sless.adapters.kubernetes.admitted_note import find_admitted
from sless.adapters.kubernetes.deployment_notes import (
    parse_ask,
    parse_failed,
    parse_good,
    parse_good_generation,
)
from sless.adapters.kubernetes.function_container import COMMAND, CONTAINER, HANDLER
from sless.adapters.kubernetes.render_deployment import (
    BUILD_LABEL,
    FUNCTION_LABEL,
    RETRY_ANNOTATION,
    RUNTIME_LABEL,
)
from sless.errors import InternalError
from sless.model.deployment import Deployment, Revision
from sless.model.function import EnvVar

Object = Mapping[str, Any]

_OWN_PREFIX = "SLESS_"


def read_deployment(live: Object) -> Deployment:
    """The Deployment, not judged; raises `InternalError` when the object is none of ours."""
    metadata = live["metadata"]
    try:
        return _read(live, metadata.get("annotations") or {})
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise InternalError(
            f"Deployment {metadata.get('namespace')}/{metadata.get('name')} is not as sless writes "
            f"them ({error!r}): delete it, or call the function another name if it is yours."
        ) from error


def _read(live: Object, notes: Mapping[str, str]) -> Deployment:
    metadata = live["metadata"]
    return Deployment(
        namespace=metadata["namespace"],
        name=live["spec"]["selector"]["matchLabels"][FUNCTION_LABEL],
        ask=parse_ask(notes),
        revision=find_admitted(notes, _read_revision(live["spec"]["template"])),
        good=parse_good(notes),
        good_generation=parse_good_generation(notes),
        failed=parse_failed(notes),
        uid=metadata.get("uid", ""),
        resource_version=metadata.get("resourceVersion", ""),
    )


def _read_revision(template: Object) -> Revision:
    labels = template["metadata"].get("labels") or {}
    annotations = template["metadata"].get("annotations") or {}
    containers = template["spec"]["containers"]
    container = next(each for each in containers if each["name"] == CONTAINER)
    variables = [_read_variable(each) for each in container.get("env") or ()]
    own = {each.name: each.value.replace("$$", "$") for each in variables if _is_own(each)}
    return Revision(
        image=container["image"],
        build=labels.get(BUILD_LABEL, ""),
        runtime=labels.get(RUNTIME_LABEL, ""),
        handler=own.get(HANDLER),
        command=_read_command(own.get(COMMAND)),
        env=_without_own(variables),
        retry=_read_number(annotations.get(RETRY_ANNOTATION, "0")),
    )


def _read_variable(variable: Object) -> EnvVar:
    """A value taken from elsewhere, which only a hand writes, tells where from."""
    source = variable.get("valueFrom")
    value = variable.get("value", "") if source is None else json.dumps(source, sort_keys=True)
    return EnvVar(variable["name"], value)


def _without_own(variables: Iterable[EnvVar]) -> tuple[EnvVar, ...]:
    return tuple(each for each in variables if not _is_own(each))


def _is_own(variable: EnvVar) -> bool:
    return variable.name == "PORT" or variable.name.startswith(_OWN_PREFIX)


def _read_command(text: str | None) -> tuple[str, ...]:
    """What a hand made of it that is no list is one word, and so another revision."""
    if text is None:
        return ()
    try:
        words = json.loads(text)
    except (ValueError, RecursionError):
        return (text,)
    return tuple(str(word) for word in words) if isinstance(words, list) else (text,)


def _read_number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() else -1
