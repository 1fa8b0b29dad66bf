"""A pull that the registry refuses: whose password it was."""

from typing import Any

import pytest

from sless.adapters.kubernetes.pod_trouble import find_trouble
from sless.errors import RegistryDenied

DENIED = "failed to resolve image: pull access denied: no basic auth credentials"


def refused(*secrets: str) -> dict[str, Any]:
    waiting = {"reason": "ErrImagePull", "message": DENIED}
    own = {"name": "function", "image": "r/x", "ready": False, "state": {"waiting": waiting}}
    return {
        "metadata": {"namespace": "shop"},
        "spec": {"imagePullSecrets": [{"name": each} for each in secrets]} if secrets else {},
        "status": {"containerStatuses": [own]},
    }


@pytest.mark.parametrize(
    ("secrets", "said"),
    [
        (
            ("registry",),
            "check that namespace shop has the Secret registry, and the password in it",
        ),
        (("registry", "mine"), "has the Secret registry or mine, and"),
        ((), "it takes a password, and SLESS_PODS__PULL_SECRET names none"),
    ],
    ids=str,
)
def test_a_refused_pull_names_the_secret_that_it_needs(secrets: tuple[str, ...], said: str) -> None:
    trouble = find_trouble([refused(*secrets)])
    assert isinstance(trouble, RegistryDenied)
    assert said in str(trouble)
    assert DENIED in str(trouble)
