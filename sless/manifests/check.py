"""What a written spec, annotations and labels must obey: the custom resource's rules, in Python."""

import re
from collections.abc import Mapping
from typing import Any

from sless.errors import InvalidSetting
from sless.manifests.parse import parse_spec
from sless.model.function import EnvVar, FunctionSpec
from sless.naming import check_name, check_namespace, is_runtime_name, parse_own_key

FIELDS = ("s3Key", "runtime", "handler", "command", "env", "request")

HANDLER_MAX = 256
"""Characters."""
COMMAND_WORDS_MAX = 100
ENV_MAX = 200
"""Variables; it bounds the cost of the custom resource's uniqueness rule."""
ENV_NAME_MAX = 128
"""Characters."""
TEXT_MAX = 32 * 1024
"""Bytes of UTF-8 in a value or a word; Linux takes 128 KiB in one string of an exec."""
SPEC_MAX = 256 * 1024
"""Bytes of UTF-8 in all strings of a spec; etcd takes objects of 1.5 MiB, status included."""
REQUEST_MAX = 128
"""Characters."""
ANNOTATIONS_MAX = 256 * 1024
"""Bytes of all annotations: Kubernetes' limit."""

_HANDLER = re.compile(
    r"[A-Za-z_][\w-]*([./][A-Za-z_][\w-]*)*:[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*", re.ASCII
)
_ENV_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_OWN_ENV = re.compile(r"PORT|SLESS_.*", re.DOTALL)
_REQUEST = re.compile(r"[!-~]+")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?)?", re.ASCII)
_QUALIFIED = re.compile(
    r"(?P<prefix>[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*/)?"
    r"[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?",
    re.ASCII,
)
_PREFIX_MAX = 253


def check_spec(
    spec: Mapping[str, Any], *, namespace: str, name: str, previous: Mapping[str, Any] | None = None
) -> FunctionSpec:
    """The spec as a value; raises `InvalidName`, `InvalidSetting` or `InvalidKey`.

    Args:
        spec: Whole, as the manifest would have it.
        namespace: Of the Function.
        name: Of the Function; its s3Key must be its own.
        previous: The spec before this write, for rules about changes.
    """
    check_namespace(namespace)
    check_name(name)
    unknown = sorted(set(spec) - set(FIELDS))
    if unknown:
        raise InvalidSetting(
            f"spec.{unknown[0]} is no field of a Function: those are {', '.join(FIELDS)}."
        )
    parsed = parse_spec(spec)
    _check_runtime(parsed, namespace=namespace, name=name, previous=previous)
    _check_start(parsed)
    _check_env(parsed.env)
    _check_request(parsed.request)
    _check_size(parsed)
    return parsed


def check_annotations(annotations: Mapping[str, Any]) -> None:
    """Kubernetes' rules for keys and their total size; raises `InvalidSetting`."""
    total = 0
    for key, value in annotations.items():
        where = _check_qualified(key, "annotation")
        if not isinstance(value, str):
            raise InvalidSetting(f"{where} must be a string.")
        _check_text(value, where, limit=ANNOTATIONS_MAX)
        total += len(key) + len(value.encode())
    if total > ANNOTATIONS_MAX:
        raise InvalidSetting(
            f"The annotations take {total} bytes together; {ANNOTATIONS_MAX} are allowed."
        )


def check_labels(labels: Mapping[str, Any]) -> None:
    """Kubernetes' rules for labels; raises `InvalidSetting`."""
    for key, value in labels.items():
        where = _check_qualified(key, "label")
        if not isinstance(value, str) or not _LABEL_VALUE.fullmatch(value):
            raise InvalidSetting(
                f"{where} must be at most 63 letters, digits, '-', '_' and '.', with a letter or "
                "digit at both ends."
            )


def _check_runtime(
    spec: FunctionSpec, *, namespace: str, name: str, previous: Mapping[str, Any] | None
) -> None:
    if not is_runtime_name(spec.runtime):
        raise InvalidSetting(
            f"spec.runtime {spec.runtime[:80]!r} is no runtime: use a name such as python3.11."
        )
    key = parse_own_key(spec.s3_key, namespace=namespace, name=name)
    if key.runtime == spec.runtime:
        return
    if previous is not None and previous.get("s3Key") == spec.s3_key:
        raise InvalidSetting(
            "spec.runtime may change only together with spec.s3Key: upload the code again "
            f"for {spec.runtime}."
        )
    raise InvalidSetting(
        f"spec.runtime is {spec.runtime}, but spec.s3Key names an upload for {key.runtime}."
    )


def _check_start(spec: FunctionSpec) -> None:
    if spec.handler is not None and spec.command:
        raise InvalidSetting("spec.handler and spec.command exclude each other: remove one.")
    if spec.handler is not None and (
        len(spec.handler) > HANDLER_MAX or not _HANDLER.fullmatch(spec.handler)
    ):
        raise InvalidSetting(
            f"spec.handler {spec.handler[:80]!r} must have the form module:attribute, such as "
            f"main:app, in at most {HANDLER_MAX} characters."
        )
    if len(spec.command) > COMMAND_WORDS_MAX:
        raise InvalidSetting(f"spec.command has over {COMMAND_WORDS_MAX} words.")
    for at, word in enumerate(spec.command):
        _check_text(word, f"spec.command[{at}]", limit=TEXT_MAX)
    if spec.command and not spec.command[0]:
        raise InvalidSetting("spec.command[0] is empty: it must name a program.")


def _check_env(env: tuple[EnvVar, ...]) -> None:
    if len(env) > ENV_MAX:
        raise InvalidSetting(f"spec.env has {len(env)} variables; {ENV_MAX} are allowed.")
    seen: set[str] = set()
    for variable in env:
        _check_env_name(variable.name)
        if variable.name in seen:
            raise InvalidSetting(f"spec.env names {variable.name} twice.")
        seen.add(variable.name)
        _check_text(variable.value, f"spec.env {variable.name}", limit=TEXT_MAX)


def _check_env_name(name: str) -> None:
    if len(name) > ENV_NAME_MAX or not _ENV_NAME.fullmatch(name):
        raise InvalidSetting(
            f"spec.env name {name[:80]!r} must start with a letter or '_' and go on with letters, "
            f"digits, '_', '-' and '.', at most {ENV_NAME_MAX}."
        )
    if _OWN_ENV.fullmatch(name):
        raise InvalidSetting(f"spec.env {name} is set by the platform: choose another name.")


def _check_request(request: str | None) -> None:
    if request is not None and (len(request) > REQUEST_MAX or not _REQUEST.fullmatch(request)):
        raise InvalidSetting(
            f"spec.request must be 1 to {REQUEST_MAX} printable ASCII characters without spaces."
        )


def _check_size(spec: FunctionSpec) -> None:
    texts = [*spec.command, *(text for each in spec.env for text in (each.name, each.value))]
    total = sum(len(text.encode()) for text in texts)
    if total > SPEC_MAX:
        raise InvalidSetting(
            f"spec.command and spec.env take {total} bytes together; {SPEC_MAX} are allowed."
        )


def _check_text(text: str, where: str, *, limit: int) -> None:
    if "\0" in text:
        raise InvalidSetting(f"{where} contains a NUL character.")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise InvalidSetting(f"{where} is no valid Unicode text.") from None
    if size > limit:
        raise InvalidSetting(f"{where} takes {size} bytes; {limit} are allowed.")


def _check_qualified(key: str, what: str) -> str:
    match = _QUALIFIED.fullmatch(key)
    if match is None or len(match["prefix"] or "") > _PREFIX_MAX + 1:
        raise InvalidSetting(
            f"{what} {key[:80]!r} is no key: use [domain/]name with a name of at most 63 letters, "
            "digits, '-', '_' and '.'."
        )
    return f"{what} {key}"
