"""The one answer to an ask, as it lies in S3."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from sless.errors import InternalError
from sless.model.function import Ask
from sless.model.phase import Phase


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a build or rollout, for people: times are RFC 3339 in UTC."""

    name: str
    started_at: str
    ended_at: str
    reason: str = ""
    """Empty when the step succeeded."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Ready, Failed or Cancelled; the first one written for an ask stands."""

    namespace: str
    name: str
    ask: Ask
    phase: Phase
    reason: str
    message: str
    s3_key: str
    build: str
    runtime: str
    image: str = ""
    """By digest; empty when no image was made or looked up."""
    revision: str = ""
    """The revision's hash; empty when none was rolled out."""
    log_prefix: str = ""
    """Where the build's log chunks lie; empty when this ask needed no build."""
    workflow_id: str = ""
    run_id: str = ""
    build_run_id: str = ""
    attempts: int = 0
    steps: tuple[Step, ...] = ()
    ended_at: str = ""

    def to_json(self) -> bytes:
        """As it is stored: UTF-8 JSON with sorted keys."""
        return json.dumps(asdict(self), sort_keys=True, indent=1).encode()


def parse_outcome(text: bytes) -> Outcome:
    """An outcome from its stored form; raises `InternalError` on rubbish."""
    try:
        return _parse(json.loads(text))
    except (ValueError, KeyError, TypeError) as error:
        raise InternalError(f"A stored outcome cannot be read: {error!r}.") from error


def _parse(content: dict[str, Any]) -> Outcome:
    return Outcome(
        **content
        | {
            "ask": Ask(**content["ask"]),
            "phase": Phase(content["phase"]),
            "steps": tuple(Step(**step) for step in content["steps"]),
        }
    )
