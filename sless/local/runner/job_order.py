"""What the runner tells a job's process, and what that answers: JSON on stdin, and a file."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sless.errors import SlessError
from sless.files import write_atomically
from sless.model.attempt import AttemptState

DEFECT = "The build failed by a defect of sless; DATA/logs/runner.log has the traceback."
"""What a person is told of it."""
RESULT = "result.json"
"""In the job's folder, written last."""


@dataclass(frozen=True, slots=True)
class JobOrder:
    """One build; paths are text, so that it goes through JSON as it is."""

    namespace: str
    function: str
    tag: str
    """What the image is tagged with."""
    runtime: str
    rebuild: int
    context_url: str = field(repr=False)
    """Presigned: it must enter no log."""
    context_sha256: str
    language: str
    """Of the interpreter."""
    interpreter: str
    platform: str
    images: str
    """The folder of images."""
    folder: str
    """The job's own; its logs and its result lie at the top."""
    deadline_seconds: float
    memory_bytes: int
    """Of all its processes together."""
    log_bytes: int
    """Of one container."""
    parent: int
    """The runner's pid: without it nobody would take the result."""

    def to_json(self) -> bytes:
        """For the job's standard input."""
        return json.dumps(asdict(self)).encode()


def parse_order(text: bytes) -> JobOrder:
    """An order from its JSON."""
    return JobOrder(**json.loads(text))


@dataclass(frozen=True, slots=True)
class JobResult:
    """How a job ended."""

    state: AttemptState
    digest: str = ""
    reason: str = ""
    message: str = ""


def failed(error: SlessError) -> JobResult:
    """The result that an error makes."""
    return JobResult(AttemptState.FAILED, reason=error.reason, message=error.message)


def write_result(result: JobResult, folder: Path) -> None:
    """Writes it whole or not at all."""
    write_atomically(folder / RESULT, json.dumps(asdict(result)).encode())


def find_result(folder: Path) -> JobResult | None:
    """What the job left, or none if it vanished before."""
    try:
        content = json.loads((folder / RESULT).read_bytes())
    except (OSError, ValueError):
        return None
    return JobResult(**content | {"state": AttemptState(content["state"])})
