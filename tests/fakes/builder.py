"""A builder in memory whose Jobs follow a script: `Builder` for tests of workflows."""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from sless.errors import AlreadyExists, StoreUnavailable
from sless.model.attempt import Attempt, AttemptState, AttemptStatus, LogChunk
from sless.model.function import FunctionRef
from sless.naming import attempt_tag
from tests.fakes.images import FakeImages, digest_of


@dataclass(frozen=True, slots=True)
class Succeed:
    """Runs for so many polls of its status, pushes, and succeeds."""

    polls: int = 1
    pushes: bool = True
    """False: claims success, but no manifest is in the registry."""


@dataclass(frozen=True, slots=True)
class Fail:
    """Runs for so many polls of its status and fails."""

    reason: str = "BuildFailed"
    message: str = "The builder said no."
    polls: int = 1


@dataclass(frozen=True, slots=True)
class Hang:
    """Runs until it is deleted, or until `FakeBuilder.release` gives it another script."""


@dataclass(frozen=True, slots=True)
class Struggle:
    """Stays pending with a reason for so many polls, then goes on with another script."""

    reason: str
    message: str
    polls: int = 1
    then: "Script" = field(default_factory=Succeed)


Script = Succeed | Fail | Hang | Struggle


@dataclass(slots=True)
class FakeJob:
    """One Job, by its attempt."""

    attempt: Attempt
    script: Script
    polls: int = 0
    status: AttemptStatus = field(default_factory=lambda: AttemptStatus(AttemptState.PENDING))
    log: bytes = b""


class FakeBuilder:
    """Each new Job takes the next of `scripts`, or `otherwise` when none is left."""

    def __init__(self, images: FakeImages, *, otherwise: Script | None = None) -> None:
        self.unavailable = False
        self.scripts: deque[Script] = deque()
        self.by_nonce: dict[str, Script] = {}
        """Scripts for certain attempts, before `scripts`."""
        self.jobs: dict[str, FakeJob] = {}
        """Those present, by nonce."""
        self.created: Counter[str] = Counter()
        """How often a Job was made, by nonce: more than once is a defect."""
        self.deleted: list[str] = []
        """Nonces whose Job was there and was deleted."""
        self._images = images
        self._otherwise = otherwise or Succeed()

    async def ensure(self, attempt: Attempt, *, context_url: str) -> None:
        """See the port."""
        self._check_available()
        job = self.jobs.get(attempt.nonce)
        if job is None:
            script = self._next_script(attempt.nonce)
            line = f"building {attempt.build} from {len(context_url)} characters of URL\n"
            self.jobs[attempt.nonce] = FakeJob(attempt, script, log=line.encode())
            self.created[attempt.nonce] += 1
        elif job.attempt != attempt:
            raise AlreadyExists(f"Job {attempt.nonce} belongs to another attempt.")

    async def status(self, attempt: Attempt) -> AttemptStatus:
        """See the port; each call moves the Job on by one poll."""
        self._check_available()
        job = self.jobs.get(attempt.nonce)
        if job is None:
            return AttemptStatus(AttemptState.FAILED, reason="BuildLost", message="No such Job.")
        if job.status.state in {AttemptState.PENDING, AttemptState.RUNNING}:
            job.polls += 1
            job.status = self._advanced(job)
        return job.status

    async def read_log(
        self, attempt: Attempt, *, offsets: dict[str, int], limit: int
    ) -> Sequence[LogChunk]:
        """See the port; there is one container, `build`."""
        self._check_available()
        job = self.jobs.get(attempt.nonce)
        start = offsets.get("build", 0)
        data = job.log[start : start + limit] if job else b""
        return [LogChunk("build", start, data)] if data else []

    async def delete(self, attempt: Attempt) -> None:
        """See the port."""
        self._check_available()
        if self.jobs.pop(attempt.nonce, None):
            self.deleted.append(attempt.nonce)

    def release(self, nonce: str, script: Script | None = None) -> None:
        """Lets a Job go on by another script, from its next poll."""
        job = self.jobs[nonce]
        job.script, job.polls = script or Succeed(), 0

    def lose(self, nonce: str) -> None:
        """The Job vanishes, as an evicted pod does."""
        del self.jobs[nonce]

    def write_log(self, nonce: str, data: bytes) -> None:
        """The Job says more."""
        self.jobs[nonce].log += data

    def _next_script(self, nonce: str) -> Script:
        if nonce in self.by_nonce:
            return self.by_nonce[nonce]
        return self.scripts.popleft() if self.scripts else self._otherwise

    def _advanced(self, job: FakeJob) -> AttemptStatus:
        script = job.script
        if isinstance(script, Hang) or job.polls <= script.polls:
            return _under_way(script)
        if isinstance(script, Struggle):
            self.release(job.attempt.nonce, script.then)
            return AttemptStatus(AttemptState.RUNNING)
        if isinstance(script, Fail):
            return AttemptStatus(AttemptState.FAILED, reason=script.reason, message=script.message)
        return self._pushed(job.attempt, pushes=script.pushes)

    def _pushed(self, attempt: Attempt, *, pushes: bool) -> AttemptStatus:
        digest = digest_of(f"{attempt.context_sha256} {attempt.runtime} {attempt.rebuild}")
        if pushes:
            function = FunctionRef(attempt.namespace, attempt.name)
            tag = attempt_tag(attempt.build, attempt.nonce)
            self._images.push(function, tag=tag, digest=digest)
        return AttemptStatus(AttemptState.SUCCEEDED, digest=digest)

    def _check_available(self) -> None:
        if self.unavailable:
            raise StoreUnavailable("The builder does not answer.")


def _under_way(script: Script) -> AttemptStatus:
    if isinstance(script, Struggle):
        return AttemptStatus(AttemptState.PENDING, reason=script.reason, message=script.message)
    return AttemptStatus(AttemptState.RUNNING)
