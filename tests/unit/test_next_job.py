"""Which job runs next: oldest first, and no namespace in front of another's first."""

from sless.adapters.sqlite.jobs import Job, JobSpec
from sless.local.runner.jobs import next_job


def job(namespace: str, nonce: str) -> Job:
    return Job(
        name=f"build-f-{namespace}-{nonce}",
        namespace=namespace,
        function="f",
        uid="u",
        build="b",
        nonce=nonce,
        spec=JobSpec("http://s3/context", "0" * 64, "python3.11", 0, 900),
    )


def test_the_oldest_is_first() -> None:
    newer, older = job("x", "6a000002aaaa"), job("x", "6a000001bbbb")
    assert next_job([newer, older], running=[]) == older


def test_one_namespace_does_not_wait_for_anothers_fifty() -> None:
    fifty = [job("x", f"6a0000{number:02x}aaaa") for number in range(50)]
    own = job("y", "6a0000ffaaaa")
    assert next_job([*fifty[1:], own], running=fifty[:1]) == own
