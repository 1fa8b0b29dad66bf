"""What an event says, in plain words: a table, pure."""

import re
from dataclasses import dataclass

from sless.adapters.kubernetes.events import EMPTY


@dataclass(frozen=True, slots=True)
class _Rule:
    """For these reasons, where the whole message has this form."""

    reasons: frozenset[str]
    words: str
    """`{said}` is what the form captures, or the whole message."""
    form: re.Pattern[str]


def _rule(reasons: str, words: str, form: str = "(.*)") -> _Rule:
    return _Rule(frozenset(reasons.split()), words, re.compile(form, re.DOTALL))


_RULES = (
    _rule("FailedScheduling", "No node takes the pod: {said}"),
    _rule(
        "BackOff",
        "The container ends again and again, and is started again ever later.",
        "Back-off restarting failed container.*",
    ),
    _rule(
        "BackOff",
        "The image cannot be pulled, and is tried again ever later: {said}",
        "Back-off pulling image (.*)",
    ),
    _rule("Failed", "The image cannot be pulled: {said}", "Failed to pull image (.*)"),
    _rule("Failed", "The container cannot start: {said}", "(?:Error: )?(.*)"),
    _rule("InspectFailed ErrImageNeverPull", "The image cannot be used: {said}"),
    _rule("Unhealthy", "The function is not ready: {said}", "Readiness probe [a-z]+[^:]*: (.*)"),
    _rule("Unhealthy", "The function has not started: {said}", "Startup probe [a-z]+[^:]*: (.*)"),
    _rule("Unhealthy", "The function does not answer: {said}", "Liveness probe [a-z]+[^:]*: (.*)"),
    _rule("FailedMount FailedAttachVolume", "A volume cannot be mounted: {said}"),
    _rule(
        "FailedCreatePodSandBox FailedCreatePodContainer NetworkNotReady",
        "The node cannot set up the pod: {said}",
    ),
    _rule("FailedCreate", "The cluster makes no pod: {said}", "(?:Error creating: )?(.*)"),
    _rule("ReplicaSetCreateError", "The cluster makes no ReplicaSet: {said}"),
    _rule("Evicted", "The node ended the pod: {said}"),
    _rule("NodeNotReady", "The pod's node does not answer: {said}"),
    _rule("OOMKilling OOMKilled", "A process needed more memory than its limit: {said}"),
    _rule("DeadlineExceeded", "The build took too long: {said}"),
    _rule("BackoffLimitExceeded", "The build's pod failed: {said}"),
)
_A_POD = re.compile(r'\bpods "[^"]*"')
"""Named anew at each try, which would make each a warning of its own."""

_COMBINED = "(combined from similar events): "
"""What a part writes in front once it has made ten events of a kind."""


def find_words(reason: str, message: str) -> str:
    """A sentence; empty for what only repeats a state that another event explains."""
    message = message.removeprefix(_COMBINED)
    if message in EMPTY:
        return ""
    for rule in _RULES:
        match = rule.form.fullmatch(message) if reason in rule.reasons else None
        if match is not None:
            said = match[1] if rule.form.groups else ""
            return rule.words.format(said=_A_POD.sub("the pod", said) or "nobody says why")
    return message or f"Kubernetes says {reason}, and no more."
