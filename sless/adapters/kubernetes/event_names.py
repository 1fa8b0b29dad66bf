"""Whose an event is, by the name of what it is about: pure.

By names alone, as the API may list events and nothing else, and what they are about may be gone.
Neither a ReplicaSet's hash nor what is made up for a pod has a hyphen in it, so that the number of
parts behind a name tells `fn-a` and `fn-a-b` apart.
"""

import re

from sless.naming import resource_name

_MADE_UP = "[bcdfghjklmnpqrstvwxz2456789]"
"""Kubernetes' letters for names and hashes: none of them makes a word."""
_BEHIND_FUNCTION = {
    "Deployment": re.compile(""),
    "ReplicaSet": re.compile(f"-{_MADE_UP}{{1,10}}"),
    "Pod": re.compile(f"-{_MADE_UP}{{1,10}}-{_MADE_UP}{{5}}"),
}
_BEHIND_BUILD = {
    "Job": re.compile("[0-9a-f]+"),
    # A pod's name is at most 63 characters too: of a long Job's the end is cut off, hyphen and all.
    "Pod": re.compile(f"[0-9a-f]+-?{_MADE_UP}{{5}}"),
}


def is_of_function(kind: str, called: str, *, name: str) -> bool:
    """Whether it is the function's Deployment, or a ReplicaSet or pod of that."""
    whole = resource_name(name)
    shape = _BEHIND_FUNCTION.get(kind)
    return (
        shape is not None
        and called.startswith(whole)
        and shape.fullmatch(called, len(whole)) is not None
    )


def is_of_build(kind: str, called: str, *, name: str, build: str) -> bool:
    """Whether it is a Job of that build of the function, or that Job's pod."""
    head, _, nonce = called.rpartition(f"-{build}-")
    shape = _BEHIND_BUILD.get(kind)
    # Of a long function's name a Job's has the beginning only.
    fits = head.startswith("build-") and f"build-{name}".startswith(head)
    return shape is not None and fits and shape.fullmatch(nonce) is not None
