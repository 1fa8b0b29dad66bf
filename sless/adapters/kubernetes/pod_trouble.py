"""Why a function's pod does not come up, in a reason and a sentence: pure."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sless.adapters.kubernetes.function_container import CONTAINER
from sless.adapters.kubernetes.pod_reading import condition
from sless.errors import (
    BadRevision,
    FunctionCrashed,
    FunctionNotStarted,
    HandlerImportFailed,
    HandlerNotFound,
    ImageMissing,
    RegistryDenied,
    RegistryUnavailable,
    SlessError,
    error_for,
    leaves,
)
from sless.model.last_words import find_last_words

Object = Mapping[str, Any]

MESSAGE_MAX = 1000
"""Characters; what a program says last is what counts."""

_OWN_REASONS = frozenset(leaf.reason for leaf in leaves(BadRevision))
"""What the runtime says of itself; a function may write anything else there."""
_OF_THE_CODE = (HandlerNotFound, HandlerImportFailed)
"""What does not come from what is around a function: its deadline need not be waited for."""
_PULLING = frozenset({"ErrImagePull", "ImagePullBackOff", "RegistryUnavailable"})
"""The last is the kubelet's word, too."""
_NOT_STARTED = frozenset(
    {
        *("CreateContainerConfigError", "CreateContainerError", "RunContainerError"),
        *("InvalidImageName", "ErrImageNeverPull", "ImageInspectError"),
    }
)
_MISSING = re.compile(r"not found|manifest unknown|name unknown|no such manifest", re.IGNORECASE)
_DENIED = re.compile(
    r"unauthorized|authentication required|access denied|access forbidden|\b40[13]\b",
    re.IGNORECASE,
)
_SIGKILL = 137


def find_trouble(pods: Iterable[Object]) -> SlessError | None:
    """What the first pod in trouble says; none while all of them are merely starting."""
    found = (_trouble_of(pod) for pod in pods if not pod["metadata"].get("deletionTimestamp"))
    return next((trouble for trouble in found if trouble is not None), None)


def find_hopeless(pods: Iterable[Object]) -> SlessError | None:
    """What a pod's runtime said at the end of two starts: a third would end likewise."""
    again = (pod for pod in pods if _ended_again(pod))
    trouble = find_trouble(again)
    return trouble if isinstance(trouble, _OF_THE_CODE) else None


def _ended_again(pod: Object) -> bool:
    own = _own_status(pod) or {}
    return own.get("restartCount", 0) > 0 and "running" not in (own.get("state") or {})


def _own_status(pod: Object) -> Object | None:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return next((each for each in statuses if each["name"] == CONTAINER), None)


def _trouble_of(pod: Object) -> SlessError | None:
    scheduled = condition(pod, "PodScheduled")
    if scheduled.get("reason") == "Unschedulable":
        return FunctionNotStarted(f"No node takes the pod: {scheduled.get('message', '')}")
    own = _own_status(pod)
    if own is None or own.get("ready"):
        return None
    state = own.get("state") or {}
    return _of_waiting(state.get("waiting") or {}, pod, image=own.get("image", "")) or _of_end(
        state.get("terminated") or (own.get("lastState") or {}).get("terminated")
    )


def _of_waiting(waiting: Object, pod: Object, *, image: str) -> SlessError | None:
    reason, message = waiting.get("reason", ""), waiting.get("message") or ""
    if reason in _PULLING:
        return _of_pull(message or reason, pod, image=image)
    if reason in _NOT_STARTED:
        return FunctionNotStarted(f"The container cannot start ({reason}): {message}")
    return None


def _of_pull(message: str, pod: Object, *, image: str) -> SlessError:
    # A function may be called not-found, or its digest may hold a 403.
    said = message.replace(image, "") if image else message
    if _MISSING.search(said):
        return ImageMissing(f"The image cannot be pulled: {message}")
    if _DENIED.search(said):
        return RegistryDenied(f"The image cannot be pulled; {_password_of(pod)}: {message}")
    return RegistryUnavailable(f"The image cannot be pulled: {message}")


def _password_of(pod: Object) -> str:
    """What to look at; whether the Secret is there we may not ask."""
    named = (pod.get("spec") or {}).get("imagePullSecrets") or ()
    secrets = " or ".join(each.get("name", "") for each in named)
    if not secrets:
        return "it takes a password, and SLESS_PODS__PULL_SECRET names none"
    namespace = pod["metadata"].get("namespace", "")
    return f"check that namespace {namespace} has the Secret {secrets}, and the password in it"


def _of_end(ended: Object | None) -> SlessError | None:
    if ended is None:
        return None
    if ended.get("reason") in {"StartError", "ContainerCannotRun"}:
        return FunctionNotStarted(f"The container cannot run: {ended.get('message', '')}")
    code, said = ended.get("exitCode", 0), (ended.get("message") or "").strip()
    return _own_words(said) or FunctionCrashed(_describe(code, ended.get("reason", ""), said))


def _own_words(said: str) -> SlessError | None:
    """The runtime's one line of JSON, unless the function's log stands in its place."""
    told = find_last_words(said)
    if told is None or told.reason not in _OWN_REASONS:
        return None
    return error_for(told.reason, told.message[:MESSAGE_MAX])


def _describe(code: int, reason: str, said: str) -> str:
    how = f"The function's process ended with exit code {code}"
    if reason == "OOMKilled":
        how = "The function's process needed more memory than its limit"
    elif code == _SIGKILL:
        how += " (killed)"
    last = said.splitlines()[-1].strip()[-MESSAGE_MAX:] if said else ""
    return f"{how}: {last}" if last else f"{how} and said nothing."
