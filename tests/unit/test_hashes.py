"""Hashes that a requirements.txt names outlive the resolver."""

from sless.adapters.bundles.hashes import keep_hashes

LOCK = "a-b==1 \\\n    --hash=sha256:00 \\\n    --hash=sha256:01\nc==2 \\\n    --hash=sha256:02\n"


def test_without_named_hashes_the_lock_stays_as_it_is() -> None:
    assert keep_hashes(LOCK, ["A_b==1\nc==2  # --hash=sha256:ff\n"]) == LOCK


def test_named_hashes_replace_the_resolvers() -> None:
    kept = keep_hashes(LOCK, ["A_b==1 \\\n  --hash=sha256:aa \\\n  --hash sha256:bb\nc\n"])
    assert kept == "a-b==1 --hash=sha256:aa --hash=sha256:bb\nc==2 --hash=sha256:02\n"


def test_markers_stay() -> None:
    lock = "a==1 ; python_version < '4' \\\n    --hash=sha256:00\n"
    kept = keep_hashes(lock, ["a==1; python_version < '4' --hash=sha256:aa"])
    assert kept == "a==1 ; python_version < '4' --hash=sha256:aa\n"
