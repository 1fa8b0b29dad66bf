"""Revisions and failure notes as JSON columns."""

import json
from dataclasses import asdict

from sless.model.deployment import FailedNote, Revision
from sless.model.function import Ask, EnvVar


def render_revision(revision: Revision) -> str:
    """A revision as its column holds it."""
    return json.dumps(asdict(revision), sort_keys=True)


def parse_revision(text: str) -> Revision:
    """A revision from its column; raises ValueError, KeyError or TypeError on rubbish."""
    content = json.loads(text)
    content["command"] = tuple(content["command"])
    content["env"] = tuple(EnvVar(**variable) for variable in content["env"])
    return Revision(**content)


def render_note(note: FailedNote) -> str:
    """A failure note as its column holds it."""
    return json.dumps(asdict(note), sort_keys=True)


def parse_note(text: str) -> FailedNote:
    """A failure note from its column; raises ValueError, KeyError or TypeError on rubbish."""
    content = json.loads(text)
    content["ask"] = Ask(**content["ask"])
    return FailedNote(**content)
