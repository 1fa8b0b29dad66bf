"""What the cluster itself, by a policy or a webhook, made of a revision as it was written: pure.

Such a change is made again at each write. Taken for one by a hand, it would be written over for
ever. The note says which revision it is that stands there in another shape.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict

from sless.adapters.kubernetes.deployment_notes import ADMITTED, parse_revision
from sless.model.deployment import Revision


def render_admitted(wanted: Revision, *, became: Revision) -> dict[str, str]:
    """The annotation that makes of `became` the revision that was wanted."""
    note = {"became": became.instance, "wanted": asdict(wanted)}
    return {ADMITTED: json.dumps(note, ensure_ascii=False, sort_keys=True)}


def keep_admitted(notes: Mapping[str, str], wanted: Revision) -> dict[str, str]:
    """The annotation that is there, if it is about that revision."""
    return {ADMITTED: notes[ADMITTED]} if _wanted(notes) == wanted else {}


def find_admitted(notes: Mapping[str, str], became: Revision) -> Revision:
    """The revision that was wanted where `became` stands; itself without a note about it.

    Raises ValueError, KeyError or TypeError on rubbish.
    """
    wanted = _wanted(notes)
    if wanted is None or json.loads(notes[ADMITTED])["became"] != became.instance:
        return became
    return wanted


def _wanted(notes: Mapping[str, str]) -> Revision | None:
    return parse_revision(json.loads(notes[ADMITTED])["wanted"]) if ADMITTED in notes else None
