"""What a Deployment object notes in its annotations: ask, good revision, failure; both ways, pure.

People read them by `kubectl describe`; a newer version of ours must read what an older one wrote.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sless.model.deployment import Deployment, FailedNote, Revision
from sless.model.function import Ask, EnvVar

UID = "sless.io/uid"
GENERATION = "sless.io/generation"
_GOOD = "sless.io/good"
_GOOD_GENERATION = "sless.io/good-generation"
_FAILED = "sless.io/failed"
_FAILED_REASON = "sless.io/failed-reason"
_FAILED_MESSAGE = "sless.io/failed-message"
ADMITTED = "sless.io/admitted"
"""Written after what it is about, and only where the cluster changed that: `admitted_note`."""

NOTES = (
    *(UID, GENERATION, _GOOD, _GOOD_GENERATION),
    *(_FAILED, _FAILED_REASON, _FAILED_MESSAGE, ADMITTED),
)
"""All of them: those that `render_notes` leaves out must not be there."""


def render_notes(deployment: Deployment) -> dict[str, str]:
    """The annotations."""
    notes = {UID: deployment.ask.uid, GENERATION: str(deployment.ask.generation)}
    if deployment.good is not None:
        notes[_GOOD] = json.dumps(asdict(deployment.good), ensure_ascii=False, sort_keys=True)
    if deployment.good_generation:
        notes[_GOOD_GENERATION] = str(deployment.good_generation)
    failed = deployment.failed
    if failed is not None:
        notes[_FAILED] = f"{failed.ask}/{failed.hash}"
        notes[_FAILED_REASON] = failed.reason
        notes[_FAILED_MESSAGE] = failed.message
    return notes


def parse_ask(notes: Mapping[str, str]) -> Ask:
    """The ask that wrote it last; raises KeyError or ValueError on rubbish."""
    return Ask(notes[UID], int(notes[GENERATION]))


def parse_good(notes: Mapping[str, str]) -> Revision | None:
    """The revision last marked good; raises ValueError, KeyError or TypeError on rubbish."""
    return parse_revision(json.loads(notes[_GOOD])) if _GOOD in notes else None


def parse_revision(content: Any) -> Revision:
    """From what `asdict` made of one; raises KeyError or TypeError on rubbish."""
    env = tuple(EnvVar(**variable) for variable in content["env"])
    return Revision(**content | {"command": tuple(content["command"]), "env": env})


def parse_good_generation(notes: Mapping[str, str]) -> int:
    """The newest generation that the good revision served; 0 without one."""
    return int(notes.get(_GOOD_GENERATION, "0"))


def parse_failed(notes: Mapping[str, str]) -> FailedNote | None:
    """Which ask's revision failed, and why; raises ValueError on rubbish."""
    if _FAILED not in notes:
        return None
    uid, generation, digits = notes[_FAILED].rsplit("/", 2)
    return FailedNote(
        ask=Ask(uid, int(generation)),
        hash=digits,
        reason=notes.get(_FAILED_REASON, ""),
        message=notes.get(_FAILED_MESSAGE, ""),
    )
